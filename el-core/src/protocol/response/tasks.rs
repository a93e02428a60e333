//! Checks of a task list: unique names, existing dependencies, and a possible order.

use std::collections::{HashMap, HashSet};

use super::check::Check;
use super::json::short_text;
use super::proposed::{self, ProposedTask, TaskList};
use crate::model::{limits, validate};

/// A longer list is refused.
pub const TASKS_MAX: usize = 1_000;

/// Normalises names for comparison: trims spaces, and removes duplicate dependencies.
pub(super) fn tidy_names(list: &mut TaskList) {
    let trim = |name: &mut String| *name = name.trim().to_owned();
    for task in &mut list.tasks {
        trim(&mut task.id);
        task.dependencies.iter_mut().for_each(trim);
        let mut seen = HashSet::new();
        task.dependencies.retain(|name| seen.insert(name.clone()));
    }
    list.parallelizable_groups.iter_mut().flatten().for_each(trim);
    list.execution_order.iter_mut().for_each(trim);
}

/// Checks a list in full; every fault is added to `check`.
pub(super) fn check_tasks(list: &TaskList, check: &mut Check) {
    let tasks = &list.tasks;
    if tasks.is_empty() {
        check.add_fault("tasks", "is empty; there is to be one task at the least", true);
    }
    if tasks.len() > TASKS_MAX {
        return check.add_fault(
            "tasks",
            format!("has {} tasks; {TASKS_MAX} are the most", tasks.len()),
            true,
        );
    }
    if let Some(total) = list.total_tasks.filter(|total| usize::try_from(*total) != Ok(tasks.len()))
    {
        let message = format!(
            "says {total}, but `tasks` has {}: write all tasks, or the right number",
            tasks.len()
        );
        check.add_fault("total_tasks", message, true);
    }
    let places = check_ids(tasks, check);
    check_dependencies(tasks, &places, check);
    check_hints(list, &places, check);
}

/// Checks the texts and the ids of tasks. Returns the position of each id.
fn check_ids<'a>(tasks: &'a [ProposedTask], check: &mut Check) -> HashMap<&'a str, usize> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (n, task) in tasks.iter().enumerate() {
        check_texts(task, n, check);
        match places.get(task.id.as_str()) {
            None => drop(places.insert(&task.id, n)),
            Some(first) => {
                let message = format!(
                    "\"{}\" is the id of tasks[{first}] already; each task has its own",
                    short_text(&task.id)
                );
                check.add_fault(format!("tasks[{n}].id"), message, true);
            }
        }
    }
    places
}

/// Checks that a name is the id of a task.
fn check_known(name: &str, field: &str, places: &HashMap<&str, usize>, check: &mut Check) -> bool {
    let is_known = places.contains_key(name);
    if !is_known {
        let message = format!("\"{}\" is the id of no task in the list", short_text(name));
        check.add_fault(field, message, true);
    }
    is_known
}

fn check_dependencies(tasks: &[ProposedTask], places: &HashMap<&str, usize>, check: &mut Check) {
    for (n, task) in tasks.iter().enumerate() {
        for (k, name) in task.dependencies.iter().enumerate() {
            let field = format!("tasks[{n}].dependencies[{k}]");
            if *name == task.id {
                check.add_fault(field, "is the task itself", true);
            } else {
                check_known(name, &field, places, check);
            }
        }
    }
    if let Some(cycle) = find_cycle(tasks, places) {
        let message = format!(
            "go in a circle: {}; one of them must not wait for the next",
            cycle.join(" waits for ")
        );
        check.add_fault("tasks", message, true);
    }
}

/// Checks groups and order. Dependencies are binding; a hint against a dependency is reported and
/// ignored.
fn check_hints(list: &TaskList, places: &HashMap<&str, usize>, check: &mut Check) {
    let mut group_of: HashMap<&str, usize> = HashMap::new();
    for (g, group) in list.parallelizable_groups.iter().enumerate() {
        for (k, name) in group.iter().enumerate() {
            let field = format!("parallelizable_groups[{g}][{k}]");
            if check_known(name, &field, places, check) && group_of.insert(name, g).is_some() {
                let message = format!("\"{}\" stands in the groups twice", short_text(name));
                check.add_fault(field, message, true);
            }
        }
    }
    let mut turn_of: HashMap<&str, usize> = HashMap::new();
    for (k, name) in list.execution_order.iter().enumerate() {
        let field = format!("execution_order[{k}]");
        if check_known(name, &field, places, check) && turn_of.insert(name, k).is_some() {
            let message = format!("\"{}\" stands in the order twice", short_text(name));
            check.add_fault(field, message, true);
        }
    }
    for (n, task) in list.tasks.iter().enumerate() {
        for name in task.dependencies.iter().filter(|name| **name != task.id) {
            let field = format!("tasks[{n}].dependencies");
            let (id, name) = (task.id.as_str(), name.as_str());
            if group_of.get(id).is_some_and(|group| group_of.get(name) == Some(group)) {
                let message = format!(
                    "waits for \"{}\", which stands in the same parallelizable group",
                    short_text(name)
                );
                check.add_fault(field.clone(), message, false);
            }
            if turn_of.get(id).zip(turn_of.get(name)).is_some_and(|(own, other)| own < other) {
                let message = format!(
                    "waits for \"{}\", which comes later in `execution_order`",
                    short_text(name)
                );
                check.add_fault(field, message, false);
            }
        }
    }
}

fn check_texts(task: &ProposedTask, n: usize, check: &mut Check) {
    if task.id.chars().count() > limits::WORD || task.id.chars().any(char::is_control) {
        check.add_fault(
            format!("tasks[{n}].id"),
            format!("is to be one word of at most {} characters", limits::WORD),
            true,
        );
    }
    if validate::title(&task.title).is_err() {
        let message = format!("is to be one line of at most {} characters", limits::TITLE);
        check.add_fault(format!("tasks[{n}].title"), message, true);
    }
    if validate::text("description", &task.description).is_err() {
        check.add_fault(
            format!("tasks[{n}].description"),
            format!("is to be a text of at most {} bytes, without NUL", limits::TEXT),
            true,
        );
    }
}

/// Returns the names along a cycle, with the first repeated at the end; `None` without a cycle.
fn find_cycle<'a>(
    tasks: &'a [ProposedTask],
    places: &HashMap<&str, usize>,
) -> Option<Vec<&'a str>> {
    let waits_for = |n: usize| {
        tasks[n]
            .dependencies
            .iter()
            .filter(move |name| **name != tasks[n].id)
            .filter_map(|name| places.get(name.as_str()).copied())
    };
    let stuck = layer_nodes(tasks.len(), waits_for).1;
    // Each that is stuck waits for another that is: following that leads into a circle.
    let mut at = *stuck.iter().min()?;
    let mut path: Vec<usize> = Vec::new();
    let mut seen: HashMap<usize, usize> = HashMap::new();
    while let std::collections::hash_map::Entry::Vacant(place) = seen.entry(at) {
        place.insert(path.len());
        path.push(at);
        at = waits_for(at).find(|next| stuck.contains(next))?;
    }
    let mut names: Vec<&str> = path[seen[&at]..].iter().map(|n| tasks[*n].id.as_str()).collect();
    names.push(&tasks[at].id);
    Some(names)
}

/// Sorts nodes into layers, where each waits only for earlier layers. Also returns the nodes in or
/// behind a cycle.
fn layer_nodes<I: Iterator<Item = usize>>(
    count: usize,
    waits_for: impl Fn(usize) -> I,
) -> (Vec<Vec<usize>>, HashSet<usize>) {
    let mut open = vec![0_usize; count];
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (n, open) in open.iter_mut().enumerate() {
        for before in waits_for(n) {
            *open += 1;
            followers[before].push(n);
        }
    }
    let mut stuck: HashSet<usize> = (0..count).collect();
    let mut layers = Vec::new();
    let mut layer: Vec<usize> = (0..count).filter(|n| open[*n] == 0).collect();
    while !layer.is_empty() {
        let mut next = Vec::new();
        for n in &layer {
            stuck.remove(n);
            for follower in &followers[*n] {
                open[*follower] -= 1;
                if open[*follower] == 0 {
                    next.push(*follower);
                }
            }
        }
        next.sort_unstable();
        layers.push(std::mem::replace(&mut layer, next));
    }
    (layers, stuck)
}

/// Returns the ids of a checked list in layers: the tasks of a layer wait only for earlier layers.
/// Within a layer, the order is by `execution_order`, then by `parallelizable_groups`, then by
/// priority, then by position.
pub fn task_layers(list: &TaskList) -> Vec<Vec<&str>> {
    let places: HashMap<&str, usize> =
        list.tasks.iter().enumerate().map(|(n, task)| (task.id.as_str(), n)).collect();
    let turns: HashMap<&str, usize> =
        list.execution_order.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
    let groups: HashMap<&str, usize> = list
        .parallelizable_groups
        .iter()
        .enumerate()
        .flat_map(|(g, group)| group.iter().map(move |name| (name.as_str(), g)))
        .collect();
    let waits_for = |n: usize| {
        list.tasks[n]
            .dependencies
            .iter()
            .filter_map(|name| places.get(name.as_str()).copied())
            .collect::<Vec<_>>()
            .into_iter()
    };
    let (mut layers, _) = layer_nodes(list.tasks.len(), waits_for);
    for layer in &mut layers {
        layer.sort_by_key(|n| {
            let task = &list.tasks[*n];
            let of = |map: &HashMap<&str, usize>| {
                map.get(task.id.as_str()).copied().unwrap_or(usize::MAX)
            };
            (of(&turns), of(&groups), proposed::map_priority(task.priority), *n)
        });
    }
    layers
        .into_iter()
        .map(|layer| layer.into_iter().map(|n| list.tasks[n].id.as_str()).collect())
        .collect()
}
