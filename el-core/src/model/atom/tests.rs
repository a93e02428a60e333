use super::*;

#[test]
fn a_priority_is_a_number_or_a_word() {
    for (text, want) in
        [("0", 0), ("p1", 1), ("HIGH", 1), ("urgent", 0), ("normal", 2), ("someday", 5)]
    {
        assert_eq!(text.parse::<Priority>().unwrap().value(), want, "{text}");
    }
    for text in ["6", "-1", "99", "", "banana", "1.5"] {
        assert!(text.parse::<Priority>().is_err(), "{text}");
    }
}

#[test]
fn a_status_is_read_in_any_case_and_an_unknown_one_names_the_rest() {
    assert_eq!("In-Progress".parse::<Status>().unwrap(), Status::InProgress);
    let error = "banana".parse::<Status>().unwrap_err().to_string();
    assert!(error.contains("banana") && error.contains("wont_do"), "{error}");
}

#[test]
fn what_is_over_also_ends_a_run() {
    for status in Status::ALL {
        assert!(!status.is_over() || status.ends_run(), "{status}");
        assert!(!(status.is_report() && status.ends_run()), "{status}");
    }
}

#[test]
fn bad_values_are_refused_before_they_are_stored() {
    assert!(validate::title(" \t ").is_err());
    assert!(validate::title("a\nb").is_err());
    assert!(validate::title(&"x".repeat(limits::TITLE + 1)).is_err());
    assert_eq!(validate::title("  héllo ").unwrap(), "héllo");
    assert!(validate::label("two words").is_err());
    assert!(validate::label("a,b").is_err());
    assert!(validate::text("description", "a\0b").is_err());
    assert!(validate::reason("  ").is_err());
}
