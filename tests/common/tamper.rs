//! What is written to bytes, and what may become of it on its way: bits flipped, ends cut off,
//! numbers exchanged.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::chance::Chance;

/// Compact bytes.
pub fn to_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_stdvec(value).expect("it can be written")
}

pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}

/// A tree of names and numbers.
pub fn to_tree<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("it can be written")
}

pub fn from_tree<T: DeserializeOwned>(tree: Value) -> Option<T> {
    serde_json::from_value(tree).ok()
}

/// Numbers at which something may break in a cluster of this size.
fn number(nodes: usize, chance: &mut Chance) -> u64 {
    let nodes = nodes as u64;
    let tricky = [
        0,
        1,
        2,
        nodes - 1,
        nodes,
        nodes + 1,
        63,
        64,
        u64::from(u32::MAX) - 1,
        u64::from(u32::MAX),
        u64::from(u32::MAX) + 1,
        i64::MAX as u64,
        u64::MAX - 1,
        u64::MAX,
    ];
    match chance.below(tricky.len() + 4) {
        few @ 0..4 => chance.below(4 + few * nodes as usize) as u64,
        tricky_one => tricky[tricky_one - 4],
    }
}

/// A few bytes that nobody has written.
pub fn noise(chance: &mut Chance) -> Vec<u8> {
    (0..chance.below(12)).map(|_| chance.next() as u8).collect()
}

/// Changes bytes in one place. A stretch of other bytes may get in.
pub fn tamper_with_bytes(bytes: &mut Vec<u8>, other: &[u8], nodes: usize, chance: &mut Chance) {
    let at = chance.below(bytes.len() + 1);
    let end = at + chance.below(bytes.len() + 1 - at);
    match (chance.below(10), bytes.get(at).copied()) {
        (0, Some(byte)) => bytes[at] = byte ^ (1 << chance.below(8)),
        (1, Some(_)) => bytes[at] = chance.next() as u8,
        (2, Some(byte)) => bytes[at] = byte.wrapping_add(1),
        (3, Some(byte)) => bytes[at] = byte.wrapping_sub(1),
        (4 | 5, Some(_)) => {
            let number = to_bytes(&number(nodes, chance));
            bytes.splice(at..=at, number);
        }
        (6, _) => bytes.truncate(at),
        (7, _) => {
            bytes.truncate(at);
            bytes.extend_from_slice(&other[chance.below(other.len() + 1)..]);
        }
        (8, _) => {
            let again = bytes[at..end].to_vec();
            bytes.splice(end..end, again);
        }
        (9, _) => {
            bytes.drain(at..end);
        }
        (_, None) => bytes.push(chance.next() as u8),
        (_, Some(_)) => unreachable!("there are ten ways"),
    }
}

/// Changes a tree in one place. A branch of another tree may get in.
pub fn tamper_with_tree(tree: &mut Value, other: &Value, nodes: usize, chance: &mut Chance) {
    if chance.once_in(20) {
        *tree = branch(other, chance).clone();
        return;
    }
    match tree {
        Value::Array(items) if items.is_empty() || chance.once_in(3) => {
            let at = chance.below(items.len().max(1));
            match (chance.below(6), items.get(at).cloned()) {
                (0, Some(item)) => items.push(item),
                (1, Some(_)) => drop(items.remove(at)),
                (2, Some(_)) => {
                    let with = chance.below(items.len());
                    items.swap(at, with);
                }
                (3, _) => items.clear(),
                (4, Some(item)) => items.resize(nodes + chance.below(3), item),
                _ => items.insert(at, number(nodes, chance).into()),
            }
        }
        Value::Array(items) => {
            let at = chance.below(items.len());
            tamper_with_tree(&mut items[at], other, nodes, chance);
        }
        Value::Object(fields) if !fields.is_empty() => {
            let at = chance.below(fields.len());
            let field = fields.values_mut().nth(at).expect("there are more");
            tamper_with_tree(field, other, nodes, chance);
        }
        Value::Number(old) => {
            let old = old.as_u64().unwrap_or(0);
            *tree = match chance.below(4) {
                0 => old.wrapping_add(1),
                1 => old.wrapping_sub(1),
                _ => number(nodes, chance),
            }
            .into();
        }
        _ => *tree = number(nodes, chance).into(),
    }
}

/// Some part of a tree.
fn branch<'a>(tree: &'a Value, chance: &mut Chance) -> &'a Value {
    let below: Vec<&Value> = match tree {
        Value::Array(items) => items.iter().collect(),
        Value::Object(fields) => fields.values().collect(),
        _ => Vec::new(),
    };
    match chance.pick(&below) {
        Some(part) if !chance.once_in(3) => branch(part, chance),
        _ => tree,
    }
}
