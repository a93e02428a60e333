//! Imports by an agent's session.

use el_core::exchange::{self, Tracker};
use el_core::{Error, ops};

use super::BD;
use crate::support::Project;

#[test]
fn an_import_in_a_session_is_fenced() {
    let mut p = Project::new();
    p.create("one");
    let claimed = p.claim().unwrap();
    let credentials = crate::support::session(&claimed);
    p.settle(&claimed.run.id, 1);
    let ctx = el_core::Ctx { session: Some(&credentials), ..p.person() };
    let batch = exchange::read_records(BD.as_bytes(), Tracker::Bd, "", &mut |_, _| {});
    let error =
        ops::import(&mut p.store, &ctx, batch, &ops::ImportOptions::default(), &mut |_, _| {})
            .unwrap_err();
    assert!(matches!(error, Error::StaleRun { .. }), "{error}");
}

#[test]
fn an_import_in_a_session_adds_in_its_own_name_and_changes_nothing() {
    let mut p = Project::new();
    p.import(BD, Tracker::Bd);
    p.create("one");
    let claimed = p.claim().unwrap();
    let credentials = crate::support::session(&claimed);
    let ctx = el_core::Ctx { session: Some(&credentials), actor: "claude", ..p.person() };
    let mut import = |text: &str| {
        let batch = exchange::read_records(text.as_bytes(), Tracker::Bd, "", &mut |_, _| {});
        ops::import(&mut p.store, &ctx, batch, &ops::ImportOptions::default(), &mut |_, _| {})
    };
    assert_eq!(import(BD).unwrap().updated, 0);
    for (from, to) in [
        (r#""status":"open""#, r#""status":"closed""#),
        (r#""title":""#, r#""title":"Other "#),
        (r#""priority":1"#, r#""priority":0"#),
        (r#""labels":["api"],"#, ""),
    ] {
        let edited = BD.replace(from, to);
        assert_ne!(edited, BD, "{from}");
        let error = import(&edited).unwrap_err();
        assert!(matches!(error, Error::Refused(_)), "{from}: {error}");
    }
    let new = concat!(
        r#"{"id":"bd-9","title":"New","status":"open","created_by":"ann","#,
        r#""comments":[{"author":"ann","text":"approved"}]}"#
    );
    assert_eq!(import(&format!("{BD}\n{new}")).unwrap().created, 1);
    let shown = ops::show(&p.store, "bd-9").unwrap();
    assert_eq!(shown.atom.created_by, "claude");
    assert_eq!(shown.comments[0].author, "claude");
}
