//! Shapes of scopes: ways in which a model ties its items to callers.

use super::Drawing;

/// All shapes; the number makes names unique.
pub(super) const ALL: [fn(&mut Drawing, usize); 10] =
    [in_key, verified, membership, invitation, nested, union, indexed, open, operated, own];

/// Tenant in the key of each item.
fn in_key(drawing: &mut Drawing, n: usize) {
    let (id, generated) = drawing.dice.pick(&[("ulid", " = ulid()"), ("slug(1..20)", "")]);
    let given = if generated.is_empty() { format!(", a{n}Id") } else { String::new() };
    let tenant = drawing.tenant;
    drawing.entity(
        &format!("A{n}"),
        &format!("key \"A{n}#{{tenantId}}\", \"ITEM#{{a{n}Id}}\"\n tenantId: {tenant}\n a{n}Id: {id}{generated}\n title: string(1..20)\n hits: int = 0\n"),
    );
    let allow = "allow tenantId = caller.tenantId";
    drawing.some(&[
        format!("!read a{n}(tenantId, a{n}Id) -> A{n}? {allow}"),
        format!("read list{n}(tenantId) -> [A{n}] page 5 {allow}"),
        format!("read some{n}(tenantId, a{n}Id in ids) -> [A{n}] {allow}"),
        format!("read count{n}(tenantId) -> count A{n} {allow}"),
        format!("write add{n}(tenantId{given}, title) -> A{n} {{\n {allow}\n create A{n} {{}} else Taken\n}}"),
        format!("write make{n}({}title) -> A{n} {{\n allow public\n create A{n} {{ tenantId = caller.tenantId }} else Taken\n}}", given.trim_start_matches(", ").to_owned() + if given.is_empty() { "" } else { ", " }),
        format!("write rename{n}(tenantId, a{n}Id, title) -> A{n} {{\n {allow}\n update A{n}(tenantId, a{n}Id) {{ title = title }} else Unknown\n}}"),
        format!("write hit{n}(a{n}Id) -> A{n} {{\n allow public\n update A{n}(caller.tenantId, a{n}Id) {{ hits += 1 }} else Unknown\n}}"),
        format!("write drop{n}(tenantId, a{n}Id) {{\n {allow}\n delete A{n}(tenantId, a{n}Id)\n}}"),
        format!("write look{n}(tenantId, a{n}Id) -> A{n} {{\n {allow}\n let old = a{n}(tenantId, a{n}Id) else Unknown\n update A{n}(tenantId, a{n}Id) {{ title = old.title }} else Unknown\n}}"),
    ]);
}

/// Tenant in a field that patterns compare.
fn verified(drawing: &mut Drawing, n: usize) {
    let tenant = drawing.tenant;
    drawing.entity(
        &format!("B{n}"),
        &format!("key \"B{n}#{{b{n}Id}}\", \"META\"\n b{n}Id: ulid = ulid()\n tenantId: {tenant} immutable\n title: string(1..20)\n"),
    );
    let allow = "allow tenantId = caller.tenantId";
    drawing.some(&[
        format!("!read b{n}(tenantId, b{n}Id) -> B{n}? {allow}"),
        format!("read bs{n}(tenantId, b{n}Id in ids) -> [B{n}] {allow}"),
        format!("write newB{n}(tenantId, title) -> B{n} {{\n {allow}\n create B{n} {{}} else Taken\n}}"),
        format!("write setB{n}(tenantId, b{n}Id, title) -> B{n} {{\n {allow}\n update B{n}(b{n}Id, tenantId: tenantId) {{ title = title }} else Unknown\n}}"),
        format!("write ownB{n}(b{n}Id, title) -> B{n} {{\n allow public\n update B{n}(b{n}Id) {{ title = title }} else Unknown\n  if tenantId = caller.tenantId else Unknown\n}}"),
        format!("write dropB{n}(tenantId, b{n}Id) {{\n {allow}\n delete B{n}(b{n}Id)\n}}"),
        format!("write readB{n}(b{n}Id) -> B{n} {{\n allow public\n let old = b{n}(caller.tenantId, b{n}Id) else Unknown\n update B{n}(old.b{n}Id) {{ title = old.title }} else Unknown\n  if tenantId = caller.tenantId else Unknown\n}}"),
    ]);
}

/// Adds an organisation and its members, with the guards `inN` and `ownsN`.
fn organisation(drawing: &mut Drawing, n: usize) {
    let user = drawing.user;
    drawing.entity(
        &format!("Org{n}"),
        &format!("key \"ORG{n}#{{org{n}Id}}\", \"ORG\"\n org{n}Id: ulid = ulid()\n title: string(1..20)\n"),
    );
    drawing.entity(
        &format!("Member{n}"),
        &format!("key \"ORG{n}#{{org{n}Id}}\", \"MEMBER#{{userId}}\"\n org{n}Id: ref Org{n} keep\n userId: {user}\n role: \"owner\" | \"guest\" = \"guest\"\n"),
    );
    drawing.guard(&format!("in{n}(org{n}Id) = exists Member{n}(org{n}Id, caller.userId)"));
    drawing.guard(&format!("owns{n}(org{n}Id) = exists Member{n}(org{n}Id, caller.userId) where role = \"owner\""));
}

/// Members of an organisation, whom a guard knows.
fn membership(drawing: &mut Drawing, n: usize) {
    organisation(drawing, n);
    let (inside, owner) = (format!("allow in{n}(org{n}Id)"), format!("allow owns{n}(org{n}Id)"));
    drawing.some(&[
        format!("!read org{n}(org{n}Id) -> Org{n}? {inside}"),
        format!("read members{n}(org{n}Id) -> [Member{n}] page 5 {inside}"),
        format!("read member{n}(org{n}Id, userId) -> Member{n}? allow in{n}(org{n}Id) or userId = caller.userId"),
        format!("write found{n}(title) -> Org{n} {{\n allow public\n let made = ulid()\n create Org{n} {{ org{n}Id = made }} else Taken\n create Member{n} {{ org{n}Id = made, userId = caller.userId, role = \"owner\" }} else Taken\n}}"),
        format!("write title{n}(org{n}Id, title) -> Org{n} {{\n {owner}\n update Org{n}(org{n}Id) {{ title = title }} else Unknown\n}}"),
        format!("write invite{n}(org{n}Id, userId) -> Member{n} {{\n {owner}\n create Member{n} {{ role = \"guest\" }} else Already\n}}"),
        format!("write promote{n}(org{n}Id, userId, role) -> Member{n} {{\n {owner}\n update Member{n}(org{n}Id, userId) {{ role = role }} else Unknown\n}}"),
        format!("write expel{n}(org{n}Id, userId) {{\n {owner}\n delete Member{n}(org{n}Id, userId) if exists else Unknown\n}}"),
        format!("write leave{n}(org{n}Id) {{\n {inside}\n delete Member{n}(org{n}Id, caller.userId) if exists else Unknown\n}}"),
    ]);
}

/// Invitations: a caller with the code may join.
fn invitation(drawing: &mut Drawing, n: usize) {
    organisation(drawing, n);
    drawing.entity(
        &format!("Invite{n}"),
        &format!("key \"INVITE{n}#{{code{n}}}\", \"META\"\n code{n}: string(20..64) bearer = token(16)\n org{n}Id: ref Org{n} keep immutable grants\n uses: int = 0\n"),
    );
    drawing.some(&[
        format!("!read inviteBy{n}(code{n}) -> Invite{n}? strong allow public"),
        format!("write join{n}(code{n}) -> Member{n} {{\n allow public\n let invite = inviteBy{n}(code{n}) else Unknown\n create Member{n} {{ org{n}Id = invite.org{n}Id, userId = caller.userId }} else Already\n}}"),
        format!("write ask{n}(org{n}Id) -> Invite{n} {{\n allow owns{n}(org{n}Id)\n create Invite{n} {{}} else Taken\n}}"),
        format!("read org{n}(org{n}Id) -> Org{n}? allow in{n}(org{n}Id)"),
    ]);
}

/// Organisation, projects, tasks: each refers to the one above.
fn nested(drawing: &mut Drawing, n: usize) {
    organisation(drawing, n);
    drawing.entity(
        &format!("Project{n}"),
        &format!("key \"PROJECT{n}#{{project{n}Id}}\", \"META\"\n project{n}Id: ulid = ulid()\n org{n}Id: ref Org{n} keep immutable\n title: string(1..20)\n"),
    );
    drawing.entity(
        &format!("Task{n}"),
        &format!("key \"PROJECT{n}#{{project{n}Id}}\", \"TASK#{{task{n}Id}}\"\n project{n}Id: ref Project{n} keep\n task{n}Id: ulid = ulid()\n title: string(1..20)\n"),
    );
    let above = format!("in{n}(project{n}(project{n}Id).org{n}Id)");
    drawing.some(&[
        format!("!read project{n}(project{n}Id) -> Project{n}? strong allow {above}"),
        format!("read tasks{n}(project{n}Id) -> [Task{n}] page 5 allow {above}"),
        format!("read task{n}(project{n}Id, task{n}Id) -> Task{n}? allow {above}"),
        format!("write plan{n}(org{n}Id, title) -> Project{n} {{\n allow in{n}(org{n}Id)\n create Project{n} {{}} else Taken\n}}"),
        format!("write task{n}Add(project{n}Id, title) -> Task{n} {{\n let project = project{n}(project{n}Id) else Unknown\n allow in{n}(project.org{n}Id)\n create Task{n} {{}} else Taken\n}}"),
        format!("write task{n}Set(project{n}Id, task{n}Id, title) -> Task{n} {{\n allow {above}\n update Task{n}(project{n}Id, task{n}Id) {{ title = title }} else Unknown\n}}"),
        format!("write task{n}Drop(project{n}Id, task{n}Id) {{\n allow {above}\n delete Task{n}(project{n}Id, task{n}Id)\n}}"),
        format!("write clear{n}(project{n}Id) {{\n let tasks = tasks{n}s(project{n}Id)\n allow {above}\n for task in tasks max 5 {{\n delete Task{n}(project{n}Id, task.task{n}Id)\n }}\n}}\nread tasks{n}s(project{n}Id) -> [Task{n}] page 5 allow {above}"),
    ]);
}

/// Parent and children of one partition in one answer.
fn union(drawing: &mut Drawing, n: usize) {
    let tenant = drawing.tenant;
    drawing.entity(
        &format!("Shop{n}"),
        &format!("key \"SHOP{n}#{{tenantId}}\", \"META\"\n tenantId: {tenant}\n title: string(1..20)\n"),
    );
    drawing.entity(
        &format!("Sale{n}"),
        &format!("key \"SHOP{n}#{{tenantId}}\", \"SALE#{{sale{n}Id}}\"\n tenantId: {tenant}\n sale{n}Id: ulid = ulid()\n price: int(0..1000)\n"),
    );
    let allow = "allow tenantId = caller.tenantId";
    drawing.some(&[
        format!("!read shop{n}(tenantId) -> Shop{n} + [Sale{n}] page 5 {allow}"),
        format!("read sales{n}(tenantId) -> [Sale{n}] page 5 {allow}"),
        format!("write sell{n}(tenantId, price) -> Sale{n} {{\n {allow}\n create Sale{n} {{}} else Taken\n}}"),
        format!(
            "write name{n}(tenantId, title) -> Shop{n} {{\n {allow}\n upsert Shop{n}(tenantId) {{ title = title }}\n}}"
        ),
    ]);
}

/// Tenant in the key of an index.
fn indexed(drawing: &mut Drawing, n: usize) {
    let tenant = drawing.tenant;
    drawing.entity(
        &format!("Job{n}"),
        &format!("key \"JOB{n}#{{job{n}Id}}\", \"META\"\n gsi \"JOBS{n}#{{tenantId}}\", \"{{state}}#{{job{n}Id}}\"\n job{n}Id: ulid = ulid()\n tenantId: {tenant} immutable\n state: \"a\" | \"b\" = \"a\"\n title: string(1..20)\n"),
    );
    let allow = "allow tenantId = caller.tenantId";
    drawing.some(&[
        format!("!read jobs{n}(tenantId) -> [Job{n}] via gsi, page 5 {allow}"),
        format!("read jobsIn{n}(tenantId, state) -> [Job{n}] via gsi, page 5 {allow}"),
        format!("read job{n}(tenantId, job{n}Id) -> Job{n}? {allow}"),
        format!("write newJob{n}(title) -> Job{n} {{\n allow public\n create Job{n} {{ tenantId = caller.tenantId }} else Taken\n}}"),
        format!("write doJob{n}(tenantId, job{n}Id) -> Job{n} {{\n {allow}\n update Job{n}(job{n}Id, tenantId: tenantId) {{ state = \"b\" }} else Unknown\n}}"),
    ]);
}

/// Items for every caller, with a reason.
fn open(drawing: &mut Drawing, n: usize) {
    let user = drawing.user;
    drawing.entity(
        &format!("Person{n}"),
        &format!(
            "key \"PERSON{n}#{{userId}}\", \"META\"\n userId: {user}\n name: string(1..20)\n mail: email personal\n"
        ),
    );
    drawing.some(&[
        format!("!read person{n}(userId) -> Person{n}? select (userId, name) allow public\n  unscoped Person{n} \"names are public\""),
        format!("read me{n}(userId) -> Person{n}? allow userId = caller.userId"),
        format!("write sign{n}(name, mail) -> Person{n} {{\n allow public\n create Person{n} {{ userId = caller.userId }} else Already\n}}"),
        format!("write call{n}(name) -> Person{n} {{\n allow public\n update Person{n}(caller.userId) {{ name = name }} else Unknown\n}}"),
    ]);
}

/// Items of a tenant, which operators see too.
fn operated(drawing: &mut Drawing, n: usize) {
    let tenant = drawing.tenant;
    drawing.entity(
        &format!("Plan{n}"),
        &format!("key \"PLAN{n}#{{tenantId}}\", \"META\"\n tenantId: {tenant}\n seats: int(0..100) = 1\n"),
    );
    drawing.some(&[
        format!("!read plan{n}(tenantId) -> Plan{n}? allow tenantId = caller.tenantId or caller.admin = true"),
        format!("write seats{n}(tenantId, seats) -> Plan{n} {{\n allow caller.admin = true\n upsert Plan{n}(tenantId) {{ seats = seats }}\n}}"),
        format!("write stop{n}(tenantId) {{\n allow tenantId = caller.tenantId and caller.userId is some\n delete Plan{n}(tenantId)\n}}"),
    ]);
}

/// Items of a user.
fn own(drawing: &mut Drawing, n: usize) {
    let user = drawing.user;
    drawing.entity(
        &format!("Note{n}"),
        &format!("key \"OF{n}#{{userId}}\", \"NOTE#{{note{n}Id}}\"\n userId: {user}\n note{n}Id: slug(1..20)\n text: string(1..20)\n"),
    );
    let allow = "allow userId = caller.userId";
    drawing.some(&[
        format!("!read notes{n}(userId) -> [Note{n}] page 5 {allow}"),
        format!("read note{n}(userId, note{n}Id) -> Note{n}? {allow}"),
        format!("read begin{n}(userId, note{n}Id begins prefix) -> [Note{n}] page 5 {allow}"),
        format!(
            "write put{n}(note{n}Id, text) -> Note{n} {{\n allow public\n put Note{n} {{ userId = caller.userId }}\n}}"
        ),
        format!("write take{n}(note{n}Id) {{\n allow public\n delete Note{n}(caller.userId, note{n}Id)\n}}"),
    ]);
}
