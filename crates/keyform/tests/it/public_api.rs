//! The public API of `keyform` is a reviewed list. The test derives it from the sources and compares it with
//! `public_api.txt`; `KEYFORM_BLESS=1` rewrites the file. A new line there is a decision.
//!
//! The list has three sections: what application authors name, the data of store requests, and what only generated code
//! names, which is hidden in the documentation. Each item has one name.
//!
//! 1. `Library` parses a crate into a tree of modules. Items for tests only are left out, and items that a macro of the
//!    same file declares are expanded by `expand`.
//! 2. `Workspace::find` follows a path through modules and re-exports, across crates, to the item that it names.
//! 3. `Listing` walks the public names of `keyform` and prints each with its kind and its public members: fields,
//!    variants and methods.
//!
//! Derives from sources because the JSON of rustdoc needs a nightly compiler.

mod expand;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use syn::{Attribute, Fields, ImplItem, Item, TraitItem, Type, UseTree, Visibility};

/// Crates that `keyform` re-exports from, and itself.
const LIBRARIES: [&str; 9] = ["core", "world", "engine", "runtime", "aws", "live", "flow", "server", "keyform"];

/// Names that the sources of the libraries do not declare, with their kinds.
const DECLARED_ELSEWHERE: [(&str, &str); 3] =
    [("keyform::model", "macro"), ("keyform::serde", "crate"), ("keyform::serde_json", "crate")];

/// Modules with the data of store requests.
const STORE_DATA: [&str; 7] = ["capacity", "error", "expression", "operation", "statement", "table", "value"];

/// Part of the list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Application,
    StoreData,
    Generated,
}

impl Section {
    const ALL: [Self; 3] = [Self::Application, Self::StoreData, Self::Generated];

    fn heading(self) -> &'static str {
        match self {
            Self::Application => "For application authors",
            Self::StoreData => "Data of store requests",
            Self::Generated => "For generated code only, hidden in the documentation",
        }
    }

    fn of(name: &str, is_hidden: bool) -> Self {
        let module = name.split("::").nth(1).unwrap_or_default();
        match is_hidden {
            true => Self::Generated,
            false if STORE_DATA.contains(&module) => Self::StoreData,
            false => Self::Application,
        }
    }
}

/// Path of a module or an item: the crate's folder, then its modules.
type ModulePath = Vec<String>;

enum Entry {
    Module(Module),
    Item(Described),
    /// Re-export or import of another path.
    Use(ModulePath),
}

/// Kind of an item and its public fields or variants.
struct Described {
    kind: &'static str,
    members: BTreeSet<String>,
}

/// How far a name is visible.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Inside,
    /// From outside, but not in the documentation.
    Hidden,
    Outside,
}

impl Seen {
    fn of(visibility: &Visibility, attributes: &[Attribute]) -> Self {
        match (is_public(visibility), is_hidden(attributes)) {
            (false, _) => Self::Inside,
            (true, true) => Self::Hidden,
            (true, false) => Self::Outside,
        }
    }
}

#[derive(Default)]
struct Module {
    /// Entries by name. A module and a function may share a name.
    entries: BTreeMap<String, Vec<(Seen, Entry)>>,
}

impl Module {
    fn add(&mut self, name: String, seen: Seen, entry: Entry) {
        self.entries.entry(name).or_default().push((seen, entry));
    }

    fn all(&self) -> impl Iterator<Item = (&String, Seen, &Entry)> {
        self.entries.iter().flat_map(|(name, its)| its.iter().map(move |(seen, entry)| (name, *seen, entry)))
    }

    fn named(&self, name: &str) -> impl Iterator<Item = &Entry> {
        self.entries.get(name).into_iter().flatten().map(|(_, entry)| entry)
    }

    fn inner(&self, name: &str) -> Option<&Module> {
        self.named(name).find_map(|entry| match entry {
            Entry::Module(inner) => Some(inner),
            Entry::Item(_) | Entry::Use(_) => None,
        })
    }

    fn item(&self, name: &str) -> Option<&Described> {
        self.named(name).find_map(|entry| match entry {
            Entry::Item(described) => Some(described),
            Entry::Module(_) | Entry::Use(_) => None,
        })
    }

    fn used(&self, name: &str) -> Option<&ModulePath> {
        self.named(name).find_map(|entry| match entry {
            Entry::Use(path) => Some(path),
            Entry::Module(_) | Entry::Item(_) => None,
        })
    }
}

/// Inherent methods: the module of the `impl`, the name of the type, the public methods.
type Methods = Vec<(ModulePath, Vec<String>, Vec<String>)>;

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Returns whether an item exists only in tests: `cfg(test)`, or the feature `testing`.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    let configured = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    configured.filter_map(|attribute| attribute.meta.require_list().ok()).any(|list| {
        let condition = list.tokens.to_string();
        condition.contains("test")
    })
}

fn is_exported(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("macro_export"))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    let documented = attributes.iter().filter(|attribute| attribute.path().is_ident("doc"));
    documented
        .filter_map(|attribute| attribute.meta.require_list().ok())
        .any(|list| list.tokens.to_string() == "hidden")
}

/// Parser of one crate.
struct Library {
    methods: Methods,
    /// Macros with `macro_export`, which live in the root of their crate, and whether they are hidden.
    macros: BTreeMap<String, bool>,
}

/// Macros of the file that is parsed, by name.
type Rules = BTreeMap<String, TokenStream>;

impl Library {
    fn read(&mut self, file: &Path, folder: &Path, place: &ModulePath) -> Module {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.module(&parsed.items, folder, place)
    }

    fn module(&mut self, items: &[Item], folder: &Path, place: &ModulePath) -> Module {
        let mut module = Module::default();
        let rules = rules(items);
        for item in items {
            match expanded(item, &rules) {
                Some(items) => items.iter().for_each(|item| self.item(item, folder, place, &mut module)),
                None => self.item(item, folder, place, &mut module),
            }
        }
        module
    }

    fn item(&mut self, item: &Item, folder: &Path, place: &ModulePath, module: &mut Module) {
        let mut add = |name: &syn::Ident, visibility: &Visibility, kind, members| {
            let seen = Seen::of(visibility, &[]);
            module.add(name.to_string(), seen, Entry::Item(Described { kind, members }));
        };
        match item {
            Item::Struct(its) => add(&its.ident, &its.vis, "struct", fields(&its.fields)),
            Item::Enum(its) => {
                let variants = its.variants.iter().map(|variant| variant.ident.to_string()).collect();
                add(&its.ident, &its.vis, "enum", variants);
            }
            Item::Trait(its) => {
                let methods = its.items.iter().filter_map(|item| match item {
                    TraitItem::Fn(its) => Some(its.sig.ident.to_string()),
                    _ => None,
                });
                add(&its.ident, &its.vis, "trait", methods.collect());
            }
            Item::Fn(its) => add(&its.sig.ident, &its.vis, "fn", BTreeSet::new()),
            Item::Const(its) => add(&its.ident, &its.vis, "const", BTreeSet::new()),
            Item::Static(its) => add(&its.ident, &its.vis, "static", BTreeSet::new()),
            Item::Type(its) => add(&its.ident, &its.vis, "type", BTreeSet::new()),
            Item::Macro(its) if is_exported(&its.attrs) => {
                self.macros.extend(its.ident.as_ref().map(|name| (name.to_string(), is_hidden(&its.attrs))));
            }
            Item::Mod(its) if !is_for_tests(&its.attrs) => {
                let inner = self.inner(its, folder, place);
                module.add(its.ident.to_string(), Seen::of(&its.vis, &its.attrs), Entry::Module(inner));
            }
            Item::Use(its) if !is_for_tests(&its.attrs) => {
                for (name, path) in uses(&its.tree, &[]) {
                    module.add(name, Seen::of(&its.vis, &its.attrs), Entry::Use(path));
                }
            }
            Item::Impl(its) if its.trait_.is_none() => self.methods(its, place),
            _ => {}
        }
    }

    fn inner(&mut self, its: &syn::ItemMod, folder: &Path, place: &ModulePath) -> Module {
        let name = its.ident.to_string();
        let place = [place.as_slice(), std::slice::from_ref(&name)].concat();
        let folder = folder.join(&name);
        match &its.content {
            Some((_, items)) => self.module(items, &folder, &place),
            None => {
                let beside = folder.with_extension("rs");
                let file = if beside.is_file() { beside } else { folder.join("mod.rs") };
                self.read(&file, &folder, &place)
            }
        }
    }

    fn methods(&mut self, its: &syn::ItemImpl, place: &ModulePath) {
        let Type::Path(of) = &*its.self_ty else { return };
        let methods = its.items.iter().filter_map(|item| match item {
            ImplItem::Fn(its) if is_public(&its.vis) => Some(format!("{}()", its.sig.ident)),
            ImplItem::Const(its) if is_public(&its.vis) => Some(its.ident.to_string()),
            _ => None,
        });
        let of = of.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.methods.push((place.clone(), of, methods.collect()));
    }
}

/// Returns the macros that a module declares for itself.
fn rules(items: &[Item]) -> Rules {
    let macros = items.iter().filter_map(|item| match item {
        Item::Macro(its) if !is_exported(&its.attrs) => Some((its.ident.as_ref()?.to_string(), its.mac.tokens.clone())),
        _ => None,
    });
    macros.collect()
}

/// Returns the items that a call of a macro declares; `None` if the item is no such call.
fn expanded(item: &Item, rules: &Rules) -> Option<Vec<Item>> {
    let Item::Macro(call) = item else { return None };
    let rule = rules.get(&call.mac.path.get_ident()?.to_string())?;
    let tokens = expand::expand(rule.clone(), call.mac.tokens.clone())?;
    let file: syn::File = syn::parse2(tokens).unwrap_or_else(|error| panic!("the expansion of a macro: {error}"));
    Some(file.items)
}

fn fields(fields: &Fields) -> BTreeSet<String> {
    let public = fields.iter().filter(|field| is_public(&field.vis));
    public.filter_map(|field| field.ident.as_ref().map(ToString::to_string)).collect()
}

/// Returns the names that a `use` brings in, with their paths. A glob has the name `*`.
fn uses(tree: &UseTree, before: &[String]) -> Vec<(String, ModulePath)> {
    let path = |name: &syn::Ident| [before, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(its) => uses(&its.tree, &path(&its.ident)),
        UseTree::Name(its) if its.ident == "self" => {
            vec![(before.last().cloned().unwrap_or_default(), before.to_vec())]
        }
        UseTree::Name(its) => vec![(its.ident.to_string(), path(&its.ident))],
        UseTree::Rename(its) => vec![(its.rename.to_string(), path(&its.ident))],
        UseTree::Glob(_) => vec![("*".to_owned(), before.to_vec())],
        UseTree::Group(its) => its.items.iter().flat_map(|tree| uses(tree, before)).collect(),
    }
}

/// All libraries.
struct Workspace {
    libraries: BTreeMap<String, Module>,
    /// Methods by the place of their type.
    methods: BTreeMap<ModulePath, BTreeSet<String>>,
    /// Exported macros of `keyform`, and whether they are hidden.
    macros: BTreeMap<String, bool>,
}

impl Workspace {
    fn read() -> Self {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut workspace = Self { libraries: BTreeMap::new(), methods: BTreeMap::new(), macros: BTreeMap::new() };
        let mut methods = Methods::new();
        for name in LIBRARIES {
            let folder: PathBuf = crates.join(name).join("src");
            let mut library = Library { methods: Methods::new(), macros: BTreeMap::new() };
            let root = library.read(&folder.join("lib.rs"), &folder, &vec![name.to_owned()]);
            workspace.libraries.insert(name.to_owned(), root);
            methods.append(&mut library.methods);
            workspace.macros = library.macros;
        }
        for (place, of, names) in methods {
            if let Some(found) = workspace.find(&place, &of) {
                workspace.methods.entry(found).or_default().extend(names);
            }
        }
        workspace
    }

    fn module(&self, place: &[String]) -> Option<&Module> {
        let (library, rest) = place.split_first()?;
        rest.iter().try_fold(self.libraries.get(library)?, |module, name| module.inner(name))
    }

    fn item(&self, place: &[String]) -> Option<&Described> {
        let (name, module) = place.split_last()?;
        self.module(module)?.item(name)
    }

    /// Returns the place of what a path in a module names; `None` if it is in a crate of others or made by a macro.
    fn find(&self, module: &[String], path: &[String]) -> Option<ModulePath> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => vec![module.first()?.clone()],
            "self" => module.to_vec(),
            "super" => module[..module.len() - 1].to_vec(),
            name => match name.strip_prefix("keyform_") {
                Some(library) if self.libraries.contains_key(library) => vec![library.to_owned()],
                _ => self.step(module, name, rest.is_empty())?,
            },
        };
        rest.iter().enumerate().try_fold(start, |place, (number, name)| match name.as_str() {
            "super" => Some(place[..place.len() - 1].to_vec()),
            name => self.step(&place, name, number + 1 == rest.len()),
        })
    }

    /// Returns the place of a name in a module. The last name of a path is an item before it is a module.
    fn step(&self, place: &[String], name: &str, is_last: bool) -> Option<ModulePath> {
        let module = self.module(place)?;
        let own = || Some([place, &[name.to_owned()]].concat());
        match (module.item(name), module.used(name), module.inner(name)) {
            (Some(_), _, _) if is_last => own(),
            (_, _, Some(_)) if !is_last => own(),
            // A name that is imported under itself, such as `use serde;`, is a crate of others.
            (_, Some(path), _) if path.len() > 1 || path[0] != name => self.find(place, path),
            (_, None, Some(_)) | (Some(_), _, _) => own(),
            _ => None,
        }
    }
}

/// Public names in order.
struct Listing<'a> {
    workspace: &'a Workspace,
    lines: BTreeMap<Section, BTreeSet<String>>,
    /// Names by the place of their item.
    names: BTreeMap<ModulePath, Vec<String>>,
}

impl Listing<'_> {
    fn module(&mut self, name: &str, place: &[String], is_hidden: bool) {
        let module = self.workspace.module(place).expect("a place of a module");
        for (inner, seen, entry) in module.all().filter(|(_, seen, _)| *seen != Seen::Inside) {
            let name = format!("{name}::{inner}");
            let is_hidden = is_hidden || seen == Seen::Hidden;
            let own = || [place, std::slice::from_ref(inner)].concat();
            match entry {
                Entry::Module(_) => self.module(&name, &own(), is_hidden),
                Entry::Item(_) => self.found(&name, Some(own()), is_hidden),
                Entry::Use(_) => self.found(&name, self.workspace.step(place, inner, true), is_hidden),
            }
        }
    }

    fn found(&mut self, name: &str, place: Option<ModulePath>, is_hidden: bool) {
        let Some(place) = place else {
            let (_, kind) = DECLARED_ELSEWHERE.iter().find(|(known, _)| *known == name).unwrap_or_else(|| {
                panic!("{name} is neither in the sources nor in the table of names that others declare")
            });
            return self.line(name, kind, is_hidden);
        };
        match self.workspace.item(&place) {
            None => self.module(name, &place, is_hidden),
            Some(described) => {
                let mut members = described.members.clone();
                members.extend(self.workspace.methods.get(&place).into_iter().flatten().cloned());
                let members: Vec<String> = members.into_iter().collect();
                let end = if members.is_empty() { String::new() } else { format!(" {{ {} }}", members.join(", ")) };
                self.line(name, &format!("{}{end}", described.kind), is_hidden);
                self.names.entry(place).or_default().push(name.to_owned());
            }
        }
    }

    fn line(&mut self, name: &str, description: &str, is_hidden: bool) {
        let lines = self.lines.entry(Section::of(name, is_hidden)).or_default();
        lines.insert(format!("{name}: {description}"));
    }

    fn text(&self) -> String {
        let sections = Section::ALL.map(|section| {
            let lines: Vec<&str> = self.lines.get(&section).into_iter().flatten().map(String::as_str).collect();
            format!("# {}: {}\n\n{}\n", section.heading(), lines.len(), lines.join("\n"))
        });
        sections.join("\n")
    }
}

fn listing(workspace: &Workspace) -> Listing<'_> {
    let mut listing = Listing { workspace, lines: BTreeMap::new(), names: BTreeMap::new() };
    listing.module("keyform", &["keyform".to_owned()], false);
    for (name, is_hidden) in &workspace.macros {
        listing.line(&format!("keyform::{name}!"), "macro", *is_hidden);
    }
    listing
}

#[test]
fn public_api_is_the_reviewed_list() {
    let workspace = Workspace::read();
    let actual = listing(&workspace).text();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/public_api.txt");
    if std::env::var_os("KEYFORM_BLESS").is_some() {
        fs::write(&file, &actual).expect("the list can be written");
    }
    let reviewed = fs::read_to_string(&file).unwrap_or_default();
    let (actual, reviewed): (BTreeSet<&str>, BTreeSet<&str>) = (actual.lines().collect(), reviewed.lines().collect());
    let added: Vec<_> = actual.difference(&reviewed).map(|line| format!("+ {line}")).collect();
    let removed: Vec<_> = reviewed.difference(&actual).map(|line| format!("- {line}")).collect();
    assert!(
        added.is_empty() && removed.is_empty(),
        "the public API changed; if that is intended, run the test with KEYFORM_BLESS=1:\n{}\n{}",
        removed.join("\n"),
        added.join("\n")
    );
}

#[test]
fn an_item_has_one_public_name() {
    let workspace = Workspace::read();
    let names = listing(&workspace).names;
    let twice: Vec<_> = names.values().filter(|names| names.len() > 1).map(|names| names.join(" is also ")).collect();
    assert!(twice.is_empty(), "{}", twice.join("\n"));
}

#[test]
fn no_module_of_keyform_re_exports_a_whole_crate_or_a_glob() {
    let workspace = Workspace::read();
    let root = workspace.module(&["keyform".to_owned()]).expect("the crate has a root");
    let mut modules = vec![root];
    while let Some(module) = modules.pop() {
        for (name, seen, entry) in module.all() {
            match entry {
                Entry::Use(path) if seen != Seen::Inside => {
                    let whole = path.len() == 1 && path[0].starts_with("keyform_");
                    assert!(!whole && name != "*", "`{name}` re-exports everything in {}", path.join("::"));
                }
                Entry::Module(inner) => modules.push(inner),
                Entry::Use(_) | Entry::Item(_) => {}
            }
        }
    }
}
