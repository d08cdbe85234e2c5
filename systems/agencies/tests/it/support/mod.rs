//! People and agencies for scenarios.

use std::time::Duration;

use keyform_agencies::model::{Agencies, Agency, AgencyId, Caller};
use keyform_scenario::Scene;

/// Creates the system on a scene, with its tables.
pub async fn system(scene: &Scene) -> Agencies {
    let agencies = handle(scene);
    agencies.create_tables().await.unwrap();
    agencies
}

/// Returns the system on a scene with existing tables.
pub fn handle(scene: &Scene) -> Agencies {
    Agencies::on(scene.host.store(), scene.host.options()).unwrap()
}

/// Returns an ordinary caller.
pub fn person(idpid: &str) -> Caller {
    Caller { idpid: idpid.to_owned(), admin: false }
}

/// Returns an administrator of the installation.
pub fn administrator() -> Caller {
    Caller { idpid: "root".to_owned(), admin: true }
}

/// Creates an agency as Ada.
pub async fn founded(scene: &Scene, agencies: &Agencies, name: &str) -> Agency {
    scene.clock.advance(Duration::from_millis(10));
    agencies.as_caller(person("ada")).create_agency(name).await.unwrap()
}

/// Adds a number of people, starting with `p000`.
pub async fn populated(agencies: &Agencies, agency: &AgencyId, people: usize) {
    let ada = agencies.as_caller(person("ada"));
    for number in 0..people {
        ada.add_member(agency, &format!("p{number:03}")).await.unwrap();
    }
}

/// Returns the number of members after checking that the agency's count matches; without an agency both are zero.
pub async fn checked_members(agencies: &Agencies, agency: &AgencyId) -> usize {
    let members = agencies.members_of_agency(agency).all().await.unwrap();
    let counted = agencies.agency_by_id(agency).await.unwrap().map_or(0, |agency| agency.members);
    assert_eq!(i64::try_from(members.len()).unwrap(), counted, "members without their agency, or a wrong count");
    members.len()
}
