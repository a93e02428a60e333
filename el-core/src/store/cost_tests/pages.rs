//! The pages that a change writes.

use super::*;

#[test]
fn a_change_writes_few_pages() {
    const FRAME: u64 = 24 + 4096;
    let dir = tempfile::tempdir().unwrap();
    let mut store = filled(&dir, SMALL);
    let log = dir.path().join("0.db-wal");
    let mut pages = |work: &mut dyn FnMut(&mut Store)| {
        let before = std::fs::metadata(&log).unwrap().len();
        work(&mut store);
        (std::fs::metadata(&log).unwrap().len() - before) / FRAME
    };
    let guard = ops::Guard::default();
    let patch = ops::AtomPatch { add_labels: vec!["api".into()], ..ops::AtomPatch::default() };
    let claim = ops::ClaimNext { claim: true, ..ops::ClaimNext::default() };
    let changed = pages(&mut |s| drop(ops::update(s, &ctx(), &["el-r9"], &patch, &guard).unwrap()));
    // Now and then a page is full and split. The middle of five claims has none.
    let mut claims =
        [(); 5].map(|()| pages(&mut |s| drop(ops::claim_next(s, &ctx(), &claim).unwrap())));
    claims.sort_unstable();
    let claimed = claims[2];
    let closed = pages(&mut |s| drop(ops::close(s, &ctx(), &["el-r8"], None, &guard).unwrap()));
    assert!(changed <= 8 && claimed <= 8 && closed <= 9, "{changed} {claimed} {closed} pages");
}
