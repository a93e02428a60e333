use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Returns the data that programs see in it.
fn data(text: &str) -> Value {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    CstRootNode::parse(text, &ParseOptions::default())
        .unwrap()
        .value()
        .unwrap()
        .to_serde_value()
        .unwrap()
}

const ODD: &str = "{\r\n\t// mine\r\n\t\"model\":\"opus\",\r\n\t\"hooks\" : { \"Stop\":[ \
                   {\"hooks\":[{\"type\":\"command\",\"command\":\"make check\"}]} ] }, \
                   // keep\r\n}\r\n";

#[test]
fn what_others_wrote_stays_as_it_is() {
    let put = hooks_in(ODD).unwrap();
    for part in ["\t// mine\r\n", "\"model\":\"opus\"", "// keep\r\n", "\"command\":\"make check\""]
    {
        assert!(put.contains(part), "{part:?} is not in {put}");
    }
    assert!(!put.replace("\r\n", "").contains('\n'), "its line ends are kept: {put:?}");
    assert_eq!(data(&put)["hooks"]["Stop"].as_array().unwrap().len(), 2);
    assert_eq!(hooks_in(&put).unwrap(), put, "again is the same");
    assert_eq!(data(&hooks_out(&put).unwrap()), data(ODD));
}

#[test]
fn an_empty_file_becomes_a_tidy_one() {
    let put = hooks_in("").unwrap();
    insta::assert_snapshot!(put, @r#"
    {
      "hooks": {
        "SessionStart": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "el hook session-start 2>/dev/null || true",
                "timeout": 10
              }
            ]
          }
        ],
        "PreCompact": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "el hook pre-compact 2>/dev/null || true",
                "timeout": 10
              }
            ]
          }
        ],
        "Stop": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "el hook stop 2>/dev/null || true",
                "timeout": 10
              }
            ]
          }
        ]
      }
    }
    "#);
    assert_eq!(data(&hooks_out(&put).unwrap()), json!({}));
}

#[test]
fn what_cannot_be_edited_is_left_alone() {
    assert!(matches!(hooks_in("{\"a\": }"), Err(EditError::NotJson(_))));
    assert!(matches!(hooks_in("[]"), Err(EditError::Unexpected(_, "one JSON object"))));
    assert!(matches!(hooks_in("{\"hooks\": 7}"), Err(EditError::Unexpected(_, "an object"))));
    assert!(matches!(
        hooks_in("{\"hooks\": {\"Stop\": {}}}"),
        Err(EditError::Unexpected(_, "a list"))
    ));
    for twice in [
        "{\"hooks\":{},\"hooks\":{}}",
        "{\"hooks\":{},\"h\\u006foks\":{}}",
        "{\"hooks\":{\"Stop\":[],\"Stop\":[]}}",
    ] {
        assert!(matches!(hooks_in(twice), Err(EditError::Twice(_))), "{twice}");
    }
    let other = "{\"mcpServers\":{\"el\":{\"command\":\"other\"}}}";
    assert_eq!(server_in(other), Err(EditError::Taken));
    assert_eq!(server_out(other).unwrap(), other);
    let by_the_client = "{\"mcpServers\":{\"el\":{\"type\":\"stdio\",\"command\":\"el\",\
                         \"args\":[\"mcp\"],\"env\":{}}}}";
    let again = server_in(by_the_client).unwrap();
    assert_eq!(data(&again), data(by_the_client));
    assert_eq!(data(&server_out(by_the_client).unwrap()), data(by_the_client));
    for without_ours in
        ["{\"hooks\":{}}", "{\"hooks\":{\"Stop\":[]},\"mcpServers\":{}}", "{}", "", " \n"]
    {
        assert_eq!(hooks_out(without_ours).unwrap(), without_ours);
        assert_eq!(server_out(without_ours).unwrap(), without_ours);
    }
}

#[test]
fn our_hooks_are_found_among_others_in_one_group() {
    let mixed = concat!(
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"},"#,
        r#"{"type":"command","command":"el hook stop --x"}]}]}}"#
    );
    assert_eq!(data(&hooks_in(mixed).unwrap())["hooks"]["Stop"].as_array().unwrap().len(), 1);
    assert_eq!(
        data(&hooks_out(mixed).unwrap()),
        json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}})
    );
}

fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        "[a-z \"\\\\é]{0,6}".prop_map(Value::from)
    ];
    let inner = leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..3).prop_map(|map| json!(map)),
        ]
    });
    prop::collection::btree_map("[a-z]{1,8}", inner, 0..4).prop_map(|map| json!(map))
}

proptest! {
    #[test]
    fn any_settings_keep_their_data(tree in tree(), others in 0_usize..3, pretty in any::<bool>()) {
        let mut tree = tree;
        if others > 0 {
            let hook = json!({"matcher": "x", "hooks": [{"type": "command", "command": "other"}]});
            tree["hooks"] = json!({"Stop": vec![hook; others], "PreToolUse": []});
        }
        let text =
            if pretty { serde_json::to_string_pretty(&tree).unwrap() } else { tree.to_string() };
        let put = hooks_in(&text).unwrap();
        prop_assert_eq!(hooks_in(&put).unwrap(), put.clone());
        let seen = data(&put);
        for (event, command) in HOOKS {
            prop_assert!(seen["hooks"][event].to_string().contains(command));
        }
        prop_assert_eq!(data(&hooks_out(&put).unwrap()), tree.clone());
        let served = server_in(&put).unwrap();
        prop_assert_eq!(&data(&served)["mcpServers"]["el"]["command"], "el");
        prop_assert_eq!(data(&server_out(&hooks_out(&served).unwrap()).unwrap()), tree);
    }

    #[test]
    fn no_text_panics(text in "[\\[\\]{}\",:a-z/* \n\u{feff}]{0,40}") {
        let _ = hooks_in(&text).and_then(|put| hooks_out(&put));
    }
}
