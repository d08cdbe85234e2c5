//! The public API of `keyform` is a reviewed list. The test derives it from the sources and compares it with
//! `public_api.txt`; `KEYFORM_BLESS=1` rewrites the file. A new line there is a decision.
//!
//! 1. `Library` parses a crate into a tree of modules. Items for tests only are left out.
//! 2. `Workspace::find` follows a path through modules and re-exports, across crates, to the item that it names.
//! 3. `Listing` walks the public names of `keyform` and prints each with its kind and its public members: fields,
//!    variants and methods.
//!
//! Derives from sources because the JSON of rustdoc needs a nightly compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Fields, ImplItem, Item, TraitItem, Type, UseTree, Visibility};

/// Crates that `keyform` re-exports from.
const LIBRARIES: [&str; 12] =
    ["core", "world", "wire", "engine", "language", "runtime", "aws", "live", "flow", "transfer", "server", "keyform"];

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

#[derive(Default)]
struct Module {
    /// Entries by name, and whether they are public. A module and a function may share a name.
    entries: BTreeMap<String, Vec<(bool, Entry)>>,
}

impl Module {
    fn add(&mut self, name: String, is_public: bool, entry: Entry) {
        self.entries.entry(name).or_default().push((is_public, entry));
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

/// Parser of one crate.
struct Library {
    methods: Methods,
    /// Macros with `macro_export`, which live in the root of their crate.
    macros: BTreeSet<String>,
}

impl Library {
    fn read(&mut self, file: &Path, folder: &Path, place: &ModulePath) -> Module {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.module(&parsed.items, folder, place)
    }

    fn module(&mut self, items: &[Item], folder: &Path, place: &ModulePath) -> Module {
        let mut module = Module::default();
        for item in items {
            self.item(item, folder, place, &mut module);
        }
        module
    }

    fn item(&mut self, item: &Item, folder: &Path, place: &ModulePath, module: &mut Module) {
        let mut add = |name: &syn::Ident, visibility: &Visibility, kind, members| {
            module.add(name.to_string(), is_public(visibility), Entry::Item(Described { kind, members }));
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
                self.macros.extend(its.ident.as_ref().map(ToString::to_string));
            }
            Item::Mod(its) if !is_for_tests(&its.attrs) => {
                let inner = self.inner(its, folder, place);
                module.add(its.ident.to_string(), is_public(&its.vis), Entry::Module(inner));
            }
            Item::Use(its) if !is_for_tests(&its.attrs) => {
                for (name, path) in uses(&its.tree, &[]) {
                    module.add(name, is_public(&its.vis), Entry::Use(path));
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
    /// Exported macros of `keyform`.
    macros: BTreeSet<String>,
}

impl Workspace {
    fn read() -> Self {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut workspace = Self { libraries: BTreeMap::new(), methods: BTreeMap::new(), macros: BTreeSet::new() };
        let mut methods = Methods::new();
        for name in LIBRARIES {
            let folder: PathBuf = crates.join(name).join("src");
            let mut library = Library { methods: Methods::new(), macros: BTreeSet::new() };
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
    lines: BTreeSet<String>,
}

impl Listing<'_> {
    fn module(&mut self, name: &str, place: &[String]) {
        let module = self.workspace.module(place).expect("a place of a module");
        let entries = module.entries.iter().flat_map(|(inner, its)| its.iter().map(move |entry| (inner, entry)));
        for (inner, (_, entry)) in entries.filter(|(_, (public, _))| *public) {
            let name = format!("{name}::{inner}");
            match entry {
                Entry::Module(_) => self.module(&name, &[place, std::slice::from_ref(inner)].concat()),
                Entry::Item(_) => self.found(&name, Some([place, std::slice::from_ref(inner)].concat())),
                Entry::Use(_) => self.found(&name, self.workspace.step(place, inner, true)),
            }
        }
    }

    fn found(&mut self, name: &str, place: Option<ModulePath>) {
        let Some(place) = place else {
            self.lines.insert(format!("{name}: of another crate, or made by a macro"));
            return;
        };
        match self.workspace.item(&place) {
            None => self.module(name, &place),
            Some(described) => {
                let mut members = described.members.clone();
                members.extend(self.workspace.methods.get(&place).into_iter().flatten().cloned());
                let members: Vec<String> = members.into_iter().collect();
                let end = if members.is_empty() { String::new() } else { format!(" {{ {} }}", members.join(", ")) };
                self.lines.insert(format!("{name}: {}{end}", described.kind));
            }
        }
    }
}

#[test]
fn public_api_is_the_reviewed_list() {
    let workspace = Workspace::read();
    let mut listing = Listing { workspace: &workspace, lines: BTreeSet::new() };
    listing.module("keyform", &["keyform".to_owned()]);
    listing.lines.extend(workspace.macros.iter().map(|name| format!("keyform::{name}!: macro")));
    let actual: String = listing.lines.iter().map(|line| format!("{line}\n")).collect();
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
fn no_module_of_keyform_re_exports_a_whole_crate_or_a_glob() {
    let workspace = Workspace::read();
    let root = workspace.module(&["keyform".to_owned()]).expect("the crate has a root");
    let mut modules = vec![root];
    while let Some(module) = modules.pop() {
        for (name, (public, entry)) in
            module.entries.iter().flat_map(|(name, its)| its.iter().map(move |it| (name, it)))
        {
            match entry {
                Entry::Use(path) if *public => {
                    let whole = path.len() == 1 && path[0].starts_with("keyform_");
                    assert!(!whole && name != "*", "`{name}` re-exports everything in {}", path.join("::"));
                }
                Entry::Module(inner) => modules.push(inner),
                Entry::Use(_) | Entry::Item(_) => {}
            }
        }
    }
}
