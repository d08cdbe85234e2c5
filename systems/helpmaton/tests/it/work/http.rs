//! HTTP: a call from its estimate to its cost, with a token that the host issued.

use std::time::Duration;

use keyform_helpmaton::application_with;
use keyform_scenario::{Site, on_embedded};
use serde_json::{Value, json};

use super::office::{Office, id, person, units};

fn token(office: &Office, caller: &keyform_helpmaton::model::Caller) -> String {
    let claims = json!({"userId": caller.user_id, "email": caller.email});
    let Value::Object(claims) = claims else { panic!("claims are an object") };
    let token = office.scene.host.issue_token(claims, Duration::from_secs(3600)).unwrap();
    format!("Bearer {token}")
}

#[test]
fn a_call_is_begun_and_ended_with_a_token() {
    on_embedded(async |scene| {
        let office = Office::with_credit(scene, units(5)).await;
        let application = application_with(&office.scene.host, office.settings.clone()).unwrap();
        let site = Site::start(&application, &office.scene.host);
        let owner = token(&office, &office.owner);
        let stranger = token(&office, &person(&office.system).await);
        let post = |flow: &str, who: &str, body: Value| {
            site.post(&format!("/v1/helpmaton/{flow}"), &[("authorization", who)], &body)
        };
        let reservation: keyform_helpmaton::model::CreditReservationId = id();
        let call = json!({
            "workspaceId": office.workspace, "agentId": office.agent, "reservationId": reservation, "messages": ["Hello"]
        });
        assert_eq!(post("beginCall", &stranger, call.clone()).status, 403);
        let begun = post("beginCall", &owner, call.clone());
        assert_eq!((begun.status, &begun.body["reserved"]), (200, &json!(7 * 300 + 100 * 2500)));
        assert_eq!(post("beginCall", &owner, call).body, begun.body, "again is the same reservation");
        let end = json!({
            "reservationId": reservation, "tokens": {"promptTokens": 1000, "completionTokens": 1000}
        });
        assert_eq!(post("endCall", &stranger, end.clone()).status, 403);
        for _ in 0..2 {
            let ended = post("endCall", &owner, end.clone());
            assert_eq!((ended.status, &ended.body["cost"]), (200, &json!(2_800_000)));
        }
        let account = post("creditAccount", &owner, json!({"workspaceId": office.workspace}));
        assert_eq!(account.body["balance"], json!(5_000_000_000_i64 - 2_800_000));
        let cancelled = post("cancelCall", &owner, json!({"reservationId": reservation}));
        assert_eq!((cancelled.status, &cancelled.body["outcome"]), (409, &json!("AlreadyClosed")));

        let limit = json!({"workspaceId": office.workspace, "timeFrame": "daily", "amount": 1});
        assert_eq!(post("limitSpending", &owner, limit).status, 200);
        let call = json!({"workspaceId": office.workspace, "agentId": office.agent});
        let refused = post("beginCall", &owner, call);
        assert_eq!((refused.status, &refused.body["outcome"]), (409, &json!("SpendingLimitReached")));
        assert!(refused.body["detail"].as_str().unwrap().starts_with("workspace, daily:"));
    });
}
