//! Messages in channels, and the messages that the end of a run posts.

use el_core::model::{EventKind, Outcome, Status};
use el_core::ops::{self, AtomPatch, Guard, InboxFilter, NewMessage};
use el_core::{Ctx, Error};

use crate::support::{Project, person, session};

fn post(p: &mut Project, channel: &str, content: &str) -> el_core::model::Message {
    let new =
        NewMessage { channel: channel.into(), content: content.into(), ..NewMessage::default() };
    let ctx = p.person();
    ops::post(&mut p.store, &ctx, &new).unwrap()
}

fn inbox(p: &Project, reader: &str) -> Vec<String> {
    let filter = InboxFilter { reader, unread_only: true, ..InboxFilter::default() };
    ops::inbox(&p.store, &filter)
        .unwrap()
        .items
        .into_iter()
        .map(|item| item.message.content)
        .collect()
}

#[test]
fn a_mention_reaches_that_inbox_and_each_reader_marks_for_itself() {
    let mut p = Project::new();
    let first = post(&mut p, "#General", "@Gendry and @arya: the forge is lit");
    post(&mut p, "general", "nobody in particular");
    let second = post(&mut p, "other", "hello @gendry");
    assert_eq!(first.mentions, ["arya", "gendry"]);
    assert_eq!(inbox(&p, "gendry"), ["hello @gendry", "@Gendry and @arya: the forge is lit"]);

    let ctx = p.person();
    assert_eq!(
        ops::mark_read(&mut p.store, &ctx, "Gendry", &[first.seq, first.seq, second.seq]).unwrap(),
        2
    );
    assert_eq!(ops::mark_read(&mut p.store, &ctx, "gendry", &[first.seq]).unwrap(), 0);
    assert_eq!(inbox(&p, "gendry"), [""; 0]);
    assert_eq!(inbox(&p, "Arya").len(), 1, "another's marks are its own");
    let all = InboxFilter { reader: "gendry", ..InboxFilter::default() };
    assert!(ops::inbox(&p.store, &all).unwrap().items.iter().all(|item| item.read_at.is_some()));
    let later = InboxFilter { reader: "gendry", after: first.seq, ..InboxFilter::default() };
    assert_eq!(ops::inbox(&p.store, &later).unwrap().total, 1);
}

#[test]
fn channels_are_listed_with_the_last_word_first() {
    let mut p = Project::new();
    post(&mut p, "one", "a\nb @ann");
    post(&mut p, "two", "c");
    post(&mut p, "one", "d\n\ne");
    let channels = ops::list_channels(&p.store, "ann").unwrap();
    let told: Vec<_> =
        channels.iter().map(|c| (c.name.as_str(), c.messages, c.unread, c.last.as_str())).collect();
    assert_eq!(told, [("one", 2, 1, "d e"), ("two", 1, 0, "c")]);
    let (name, page) = ops::read_channel(&p.store, "#ONE", 0, Some(1)).unwrap();
    assert_eq!((name.as_str(), page.total, page.items[0].content.as_str()), ("one", 2, "d\n\ne"));
    assert!(matches!(
        ops::read_channel(&p.store, "three", 0, None).unwrap_err(),
        Error::NotFound { what: "channel", .. }
    ));
}

#[test]
fn nothing_blank_is_said_and_a_stale_session_says_nothing() {
    let mut p = Project::new();
    let ctx = p.person();
    for (channel, content) in [("a", " \n"), (" # ", "hello")] {
        let new = NewMessage {
            channel: channel.into(),
            content: content.into(),
            ..NewMessage::default()
        };
        assert!(matches!(ops::post(&mut p.store, &ctx, &new).unwrap_err(), Error::Invalid { .. }));
    }
    let id = p.create("one");
    let claimed = p.claim().unwrap();
    let credentials = session(&claimed);
    let ctx = Ctx { session: Some(&credentials), actor: "claude", ..p.person() };
    let new = NewMessage {
        channel: "general".into(),
        content: "half way".into(),
        to: vec!["Ada Lovelace".into()],
        atom: None,
    };
    let said = ops::post(&mut p.store, &ctx, &new).unwrap();
    assert_eq!(
        (said.atom_id.as_deref(), said.run_id.as_deref()),
        (Some(id.as_str()), Some(claimed.run.id.as_str()))
    );
    assert_eq!(inbox(&p, "Ada Lovelace"), ["half way"]);
    let (_, events) = ops::history(&p.store, &id).unwrap();
    assert_eq!(events.last().unwrap().kind, EventKind::Posted);
    p.settle(&claimed.run.id, 1);
    assert!(matches!(ops::post(&mut p.store, &ctx, &new).unwrap_err(), Error::StaleRun { .. }));
    assert!(matches!(
        ops::mark_read(&mut p.store, &ctx, "claude", &[said.seq]).unwrap_err(),
        Error::StaleRun { .. }
    ));
}

#[test]
fn the_end_of_a_run_is_told_to_whoever_asked_for_it_in_the_seeds_words() {
    let mut p = Project::new();
    let id = p.create("one");
    let claimed = p.claim().unwrap();
    let credentials = session(&claimed);
    let ctx = Ctx { session: Some(&credentials), actor: "claude", ..p.person() };
    ops::close(&mut p.store, &ctx, &[&id], Some("Made it; @arya may look"), &Guard::default())
        .unwrap();
    let settled = p.settle(&claimed.run.id, 0);
    let told = settled.message.expect("it is told");
    assert_eq!(
        told.content,
        format!("@ann Task {id} completed (exit 0).\n\nOutput:\nMade it; @arya may look")
    );
    assert_eq!((told.channel.as_str(), told.author.as_str()), ("claude-code-ann", "claude"));
    assert_eq!(told.mentions, ["ann", "arya"]);
    assert_eq!(inbox(&p, "ann").len(), 1);
    assert_eq!(p.settle(&claimed.run.id, 0).message, None, "told once");
    assert_eq!(inbox(&p, "ann").len(), 1);
}

#[test]
fn an_attempt_that_is_tried_again_is_told_when_it_is_given_up() {
    let mut p = Project::new();
    let id = p.create("one");
    let claimed = p.claim().unwrap();
    let settled = p.settle(&claimed.run.id, 0);
    assert_eq!((settled.outcome, settled.message.is_none()), (Outcome::Violation, true));
    p.now = settled.retry_at().unwrap();
    let claimed = p.claim().unwrap();
    let told = p.settle(&claimed.run.id, 3).message;
    assert!(told.is_none(), "a failure of another kind is tried again too");
    for _ in 0..4 {
        p.wait(std::time::Duration::from_secs(3600));
        let Some(claimed) = p.claim() else { break };
        p.settle(&claimed.run.id, 3);
    }
    assert_eq!(ops::get_atom(&p.store, &id).unwrap().status, Status::Blocked);
    let told = inbox(&p, "ann");
    assert_eq!(told.len(), 1);
    assert!(
        told[0].starts_with(&format!(
            "@ann Task {id} completed (exit 3).\n\nOutput:\nThe run ended as failed:"
        )),
        "{}",
        told[0]
    );
    assert!(told[0].ends_with("The atom is blocked."), "{}", told[0]);
}

#[test]
fn a_run_whose_atom_a_person_took_away_is_told_too() {
    let mut p = Project::new();
    let id = p.create("one");
    let claimed = p.claim().unwrap();
    let patch = AtomPatch {
        status: Some(Status::Closed),
        reason: Some("by hand".into()),
        ..AtomPatch::default()
    };
    ops::update(&mut p.store, &person(p.now), &[&id], &patch, &Guard::default()).unwrap();
    let told = p.settle(&claimed.run.id, 0).message.unwrap();
    assert!(told.content.contains("superseded"), "{}", told.content);
}
