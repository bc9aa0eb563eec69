//! What the documented `coder` worker does for a search and a tree, the plain way in Rust, to be measured beside ours.
//!
//! One thread; every file of a search is read whole and looked at line by line, and every entry of a tree is asked for its
//! state. It speaks as much of MCP on standard input and output as the benchmark needs: one request a line.

use std::fs::{self, Metadata};
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::UNIX_EPOCH;

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};
use serde_json::{json, Value};
use walkdir::WalkDir;

const PROTECTED: [&str; 5] = ["**/.env", "**/.env.*", "**/*.pem", "**/*.key", "**/secrets/**"];
const MAX_FILE_BYTES: u64 = 10 << 20;
const MAX_LINE_BYTES: usize = 4096;
const MAX_MATCHES: usize = 1000;
const TREE_DEPTH: usize = 4;
const TREE_PER_FOLDER: usize = 50;

type Failure = Box<dyn std::error::Error>;

struct Workspace<'a> {
    root: &'a Path,
    protected: GlobSet,
}

#[derive(Deserialize)]
struct Search {
    query: String,
}

#[derive(Serialize)]
struct Found {
    content_matches: Vec<Match>,
    truncated: bool,
}

#[derive(Serialize)]
struct Match {
    path: String,
    line: usize,
    column: usize,
    text: String,
}

#[derive(Deserialize)]
struct Tree {
    path: String,
}

#[derive(Serialize)]
struct Node {
    path: String,
    kind: &'static str,
    size: u64,
    mtime: u64,
    non_accessible: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    children: Option<Vec<Node>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_children: Option<usize>,
}

fn main() -> Result<(), Failure> {
    let root = fs::canonicalize(std::env::args().nth(1).ok_or("which folder?")?)?;
    let mut protected = GlobSetBuilder::new();
    for pattern in PROTECTED {
        protected.add(Glob::new(pattern)?);
    }
    let workspace = Workspace { root: &root, protected: protected.build()? };

    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        if request["id"].is_null() {
            continue;
        }
        let result = match request["params"]["name"].as_str() {
            Some(tool) => {
                let answer = workspace.call(tool, request["params"]["arguments"].clone())?;
                json!({ "content": [{ "type": "text", "text": answer }] })
            }
            None => json!({}),
        };
        serde_json::to_writer(&mut out, &json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }))?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(())
}

impl Workspace<'_> {
    fn call(&self, tool: &str, arguments: Value) -> Result<String, Failure> {
        match tool {
            "coder::search" => Ok(serde_json::to_string(&self.search(serde_json::from_value(arguments)?))?),
            "coder::tree" => {
                let asked: Tree = serde_json::from_value(arguments)?;
                Ok(serde_json::to_string(&self.tree(&self.root.join(asked.path), TREE_DEPTH)?)?)
            }
            _ => Err(format!("there is no {tool}").into()),
        }
    }

    fn search(&self, Search { query }: Search) -> Found {
        let mut found = Found { content_matches: vec![], truncated: false };
        for entry in WalkDir::new(self.root).into_iter().filter_map(Result::ok) {
            let path = self.relative(entry.path());
            if !entry.file_type().is_file() || self.protected.is_match(&path) {
                continue;
            }
            if entry.metadata().map_or(true, |metadata| metadata.len() > MAX_FILE_BYTES) {
                continue;
            }
            let bytes = match fs::read(entry.path()) {
                Ok(bytes) if !bytes.contains(&0) => bytes,
                _ => continue,
            };
            for (i, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
                let text = clip(line);
                if let Some(at) = text.find(&query) {
                    if found.content_matches.len() == MAX_MATCHES {
                        found.truncated = true;
                        return found;
                    }
                    let (path, text) = (path.clone(), text.to_string());
                    found.content_matches.push(Match { path, line: i + 1, column: at + 1, text });
                }
            }
        }
        found
    }

    fn tree(&self, path: &Path, depth: usize) -> io::Result<Node> {
        let metadata = fs::symlink_metadata(path)?;
        let relative = self.relative(path);
        let mut node = Node {
            kind: kind_of(&metadata),
            size: metadata.len(),
            mtime: seconds_of(&metadata),
            non_accessible: self.protected.is_match(&relative),
            path: relative,
            children: None,
            total_children: None,
        };
        if metadata.is_dir() && depth > 0 {
            let mut paths: Vec<_> = fs::read_dir(path)?.filter_map(Result::ok).map(|entry| entry.path()).collect();
            paths.sort();
            node.total_children = Some(paths.len());
            let shown = paths.iter().take(TREE_PER_FOLDER);
            node.children = Some(shown.map(|child| self.tree(child, depth - 1)).collect::<io::Result<_>>()?);
        }
        Ok(node)
    }

    fn relative(&self, path: &Path) -> String {
        path.strip_prefix(self.root).unwrap_or(path).to_string_lossy().into_owned()
    }
}

/// The beginning of a line, not through a character.
fn clip(line: &str) -> &str {
    let mut end = line.len().min(MAX_LINE_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

fn kind_of(metadata: &Metadata) -> &'static str {
    let file_type = metadata.file_type();
    if file_type.is_dir() {
        "dir"
    } else if file_type.is_file() {
        "file"
    } else {
        "other"
    }
}

fn seconds_of(metadata: &Metadata) -> u64 {
    let modified = metadata.modified().ok();
    modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |age| age.as_secs())
}
