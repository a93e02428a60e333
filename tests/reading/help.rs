use crate::support::TestEnv;

#[test]
fn topics_are_listed_and_each_has_its_text() {
    let env = TestEnv::new();
    let topics = env.robot(&["help", "topics"])["topics"].take();
    assert!(topics.as_array().unwrap().len() >= 5);
    for topic in topics.as_array().unwrap() {
        let name = topic["topic"].as_str().unwrap();
        assert!(env.robot(&["help", name])["text"].as_str().unwrap().len() > 200, "{name}");
    }
    assert!(env.el(&["help", "bonds"]).ok().stdout.contains("conditional_blocks"));
    assert!(env.el(&["help", "exit-codes"]).ok().stdout.contains("stale run"));
}

#[test]
fn a_command_is_explained_as_by_its_own_flag() {
    let env = TestEnv::new();
    assert_eq!(
        env.el(&["help", "dep", "add"]).ok().stdout,
        env.el(&["dep", "add", "--help"]).ok().stdout
    );
    assert_eq!(env.el(&["help"]).ok().stdout, env.el(&["--help"]).ok().stdout);
    env.el(&["help", "banana"]).fails_with(3);
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let env = TestEnv::new();
    let page = env.el(&["man"]).ok().stdout;
    assert!(page.contains(".TH EL 1") && page.contains(".SH NAME"), "{page}");
    assert!(env.el(&["man", "dep", "add"]).ok().stdout.contains(".TH EL-DEP-ADD 1"));
    env.el(&["man", "banana"]).fails_with(3);
    let made = env.robot(&["man", "--dir", "man1"]);
    assert!(made["count"].as_i64().unwrap() > 30, "{made}");
    for name in ["el.1", "el-create.1", "el-dep-add.1"] {
        assert!(env.project("man1").join(name).is_file(), "{name}");
    }
    assert!(!env.project("man1/el-supervise.1").exists(), "what is hidden stays so");
}
