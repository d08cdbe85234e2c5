//! Flows: dissolution of any size, a person's agencies with their names, the access check; in Rust and over HTTP.

use std::time::Duration;

use keyform::operation::{GetItem, PutItem};
use keyform::serde_json::{Value, json};
use keyform::{AttributeValue, Attributes, CallError, ExecuteExt, Ulid};
use keyform_agencies::dissolution::{DissolutionError, dissolve, finish_all};
use keyform_agencies::model::{AddMemberError, Agencies, AgencyId, AgencyStatus};
use keyform_agencies::{access, application, memberships, sample};
use keyform_scenario::{Scene, Site, eventually, on_embedded, on_every_store};

use crate::support::{administrator, checked_members, founded, person, populated, system};

#[test]
fn an_agency_of_more_members_than_a_transaction_takes_is_dissolved_with_them() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let agency = founded(&scene, &agencies, "Enormous").await;
        let id = &agency.agency_id;
        populated(&agencies, id, 119).await;
        let stranger = dissolve(&agencies.as_caller(person("ada")), id).await;
        assert_eq!(stranger, Err(DissolutionError::Failed(CallError::Forbidden)));
        assert_eq!(checked_members(&agencies, id).await, 120);

        let root = agencies.as_caller(administrator());
        assert_eq!(dissolve(&root, id).await, Ok(120));
        assert_eq!(root.agency_by_id(id).await, Ok(None));
        assert_eq!(checked_members(&agencies, id).await, 0);
        // The index does not contain them either.
        eventually(0, async || agencies.memberships_of("p007").all().await.unwrap().len()).await;
        assert_eq!(dissolve(&root, id).await, Ok(0), "once more changes nothing");
        assert_eq!(dissolve(&root, &AgencyId::from(Ulid::fresh())).await, Ok(0));
    });
}

#[test]
fn a_dissolution_that_was_ordered_lets_nobody_in_and_is_finished_by_the_job() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let (going, staying) = (founded(&scene, &agencies, "Going").await, founded(&scene, &agencies, "Staying").await);
        populated(&agencies, &going.agency_id, 60).await;
        let root = agencies.as_caller(administrator());
        root.order_dissolution(&going.agency_id).await.unwrap();
        root.evict_members(&going.agency_id).await.unwrap();
        assert_eq!(root.add_member(&going.agency_id, "late").await, Err(AddMemberError::AgencyNotActive));
        assert_eq!(checked_members(&agencies, &going.agency_id).await, 11);

        let ordered =
            async || agencies.agencies().all().await.unwrap().into_iter().filter(|one| one.dissolved_by.is_some());
        eventually(1, async || ordered().await.count()).await;
        let application = application(&scene.host).unwrap();
        assert_eq!(application.jobs()[0].run().await, Ok("finished 1 dissolutions".to_owned()));
        eventually(0, async || ordered().await.count()).await;
        assert_eq!(application.jobs()[0].run().await, Ok(String::new()));
        assert_eq!(root.agency_by_id(&going.agency_id).await, Ok(None));
        assert_eq!(checked_members(&agencies, &going.agency_id).await, 0);
        assert_eq!(checked_members(&agencies, &staying.agency_id).await, 1);
        assert_eq!(finish_all(&agencies).await, Ok(0));
    });
}

/// Writes a wrong member count, bypassing the model.
async fn miscount(agencies: &Agencies, scene: &Scene, agency: &AgencyId, members: i64) {
    let table = agencies.calls().runner().tables()[0].0.clone();
    let part = || AttributeValue::from(format!("AGENCY#{agency}"));
    let key: Attributes = [("PK".to_owned(), part()), ("SK".to_owned(), part())].into();
    let get = GetItem { table: table.clone(), key, consistent: true, ..GetItem::default() };
    let found = scene.host.store().call(get).await.unwrap();
    let mut item = found.item.unwrap().to_attributes();
    item.insert("members".to_owned(), members.into());
    let put = PutItem { table, item, ..PutItem::default() };
    scene.host.store().call(put).await.unwrap();
}

#[test]
fn a_dissolution_of_an_agency_that_counts_wrongly_ends_with_an_error() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let root = agencies.as_caller(administrator());
        // Stored count, and the count after nothing more can be removed.
        for (number, (counted, left)) in
            [(1000, 996), (51, 47), (50, 50), (5, 5), (3, 3), (-1, -1)].into_iter().enumerate()
        {
            let agency = founded(&scene, &agencies, &format!("Agency {number}")).await;
            populated(&agencies, &agency.agency_id, 3).await;
            miscount(&agencies, &scene, &agency.agency_id, counted).await;
            let refused = dissolve(&root, &agency.agency_id).await;
            assert_eq!(refused, Err(DissolutionError::Miscounted { counted: left }), "{counted} counted");
            let there = agencies.members_of_agency(&agency.agency_id).all().await.unwrap().len();
            miscount(&agencies, &scene, &agency.agency_id, i64::try_from(there).unwrap()).await;
            assert_eq!(dissolve(&root, &agency.agency_id).await, Ok(there as u64));
            assert_eq!(checked_members(&agencies, &agency.agency_id).await, 0);
        }
    });
}

#[test]
fn the_agencies_of_a_person_come_with_their_names_page_by_page() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let mut expected = Vec::new();
        for number in 0..52 {
            let agency = founded(&scene, &agencies, &format!("Agency {number}")).await;
            expected.push((agency.agency_id, agency.name));
        }
        let ada = agencies.as_caller(person("ada"));
        eventually(52, async || ada.memberships_of("ada").all().await.unwrap().len()).await;
        let first = memberships::page(&ada, "ada", None).await.unwrap();
        assert_eq!(first.items.len(), 50);
        let rest = memberships::page(&ada, "ada", first.cursor.clone()).await.unwrap();
        assert_eq!(rest.cursor, None);
        let found: Vec<_> =
            first.items.into_iter().chain(rest.items).map(|agency| (agency.agency_id, agency.name)).collect();
        assert_eq!(found, expected);
        assert_eq!(memberships::page(&ada, "grace", None).await, Err(CallError::Forbidden));
        let nobody = memberships::page(&agencies, "nobody", None).await.unwrap();
        assert!(nobody.items.is_empty());
    });
}

#[test]
fn access_is_what_it_is_now() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let agency = founded(&scene, &agencies, "Guarded").await;
        let id = &agency.agency_id;
        let may = async |who: &str| {
            let access = access::check(&agencies, id, who).await.unwrap();
            (access.allowed, access.is_member)
        };
        assert_eq!((may("ada").await, may("grace").await), ((true, true), (false, false)));
        let ada = agencies.as_caller(person("ada"));
        ada.add_member(id, "grace").await.unwrap();
        assert_eq!(may("grace").await, (true, true));
        ada.remove_member(id, "grace").await.unwrap();
        assert_eq!(may("grace").await, (false, false), "at once");
        let seen = agencies.agency_by_id(id).await.unwrap().unwrap();
        ada.update_agency(id, "Guarded", AgencyStatus::Suspended, seen.version).await.unwrap();
        assert_eq!(may("ada").await, (false, true));
    });
}

fn bearer(scene: &Scene, idpid: &str, admin: bool) -> String {
    let claims = json!({ "idpid": idpid, "admin": admin }).as_object().unwrap().clone();
    format!("Bearer {}", scene.host.issue_token(claims, Duration::from_secs(600)).unwrap())
}

#[test]
fn flows_over_http_know_their_callers_by_tokens() {
    on_embedded(async |scene| {
        let application = application(&scene.host).unwrap();
        let site = Site::start(&application, &scene.host);
        let (ada, root) = (bearer(&scene, "ada", false), bearer(&scene, "root", true));
        let (ada, root) = ([("authorization", ada.as_str())], [("authorization", root.as_str())]);
        let agency = site.post("/v1/agencies/createAgency", &ada, &json!({ "name": "Harbour & Sons" }));
        assert_eq!(agency.status, 200, "{agency:?}");
        let which = json!({ "agencyId": agency.body["agencyId"] });

        let mine = site.post("/v1/agencies/myAgencies", &ada, &json!({}));
        assert_eq!((mine.status, &mine.body["items"][0]["name"]), (200, &json!("Harbour & Sons")), "{mine:?}");
        let access = site.post("/v1/agencies/authorise", &ada, &which);
        assert_eq!(access.body, json!({ "allowed": true, "isMember": true, "status": "active" }));
        assert_eq!(site.post("/v1/agencies/dissolve", &ada, &which).status, 403);
        let dissolved = site.post("/v1/agencies/dissolve", &root, &which);
        assert_eq!((dissolved.status, dissolved.body), (200, json!({ "membersRemoved": 1 })));
        let access = site.post("/v1/agencies/authorise", &ada, &which);
        assert_eq!(access.body, json!({ "allowed": false, "isMember": false, "status": Value::Null }));

        let wrong = site.post("/v1/agencies/dissolve", &root, &json!({ "agencyId": "no" }));
        assert_eq!(wrong.status, 400);
        assert!(wrong.body["detail"].as_str().unwrap().contains("agencyId"), "{wrong:?}");
        assert_eq!(site.post("/v1/agencies/myAgencies", &[], &json!({})).status, 401);
    });
}

#[test]
fn the_sample_is_there_once() {
    on_every_store(async |scene| {
        let agencies: Agencies = system(&scene).await;
        let lines = sample::make(&agencies, &scene.host).await.unwrap();
        eventually(2, async || agencies.memberships_of("ada").all().await.unwrap().len()).await;
        eventually(2, async || agencies.memberships_of("grace").all().await.unwrap().len()).await;
        assert_eq!(sample::make(&agencies, &scene.host).await.unwrap(), lines);
        assert!(lines.iter().all(|line| line.starts_with("curl ") && line.contains("idpid=ada")), "{lines:?}");
        eventually(2, async || agencies.agencies().all().await.unwrap().len()).await;
    });
}
