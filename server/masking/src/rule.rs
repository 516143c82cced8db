//! The rule as data, for `deploy/runner/kubeonkube_masking.py`, which masks the output of a run in its pod.

use serde_json::{Value, json};

use crate::document::HIDDEN;
use crate::forms::{SHORTEST, SHORTEST_LINE};
use crate::{
    arguments, assigned, finder, forms, known, message, name, private_key, prose, reference, shapes, value, variants,
};

/// The names, values and patterns of this crate. `deploy/runner/masking.json` contains them; `tests/in_the_pod.rs` writes and checks
/// that file.
#[must_use]
pub fn rule() -> Value {
    let stems: Vec<_> =
        name::STEMS.iter().map(|(stem, ordinary)| json!({"stem": stem, "ordinary": ordinary})).collect();
    json!({
        "names": {
            "exception": name::EXCEPTION.as_str(),
            "stems": stems,
            "edges": name::EDGES,
            "last": name::LAST,
            "last_after_others": name::LAST_AFTER_OTHERS,
            "last_after": name::LAST_AFTER,
            "alone": name::ALONE,
            "ends": name::ENDS,
            "no_logins": name::NO_LOGINS,
            "settings": name::SETTINGS,
            "contents": name::CONTENTS,
            "public": name::PUBLIC,
            "public_start": name::PUBLIC_START,
            "public_end": name::PUBLIC_END,
            "pointers": name::POINTERS.as_slice(),
            "naming": name::NAMING,
            "counting": name::COUNTING,
            "counted": name::COUNTED,
            "public_words": name::PUBLIC_WORDS,
            "of_public_keys": name::OF_PUBLIC_KEYS,
            "descriptions": name::DESCRIPTIONS,
            "references": name::REFERENCES,
            "always_describing": name::ALWAYS_DESCRIBING,
            "of_accounts": name::OF_ACCOUNTS,
            "collections": name::COLLECTIONS,
            "keys": name::KEYS,
        },
        "harmless": {
            "words": value::HARMLESS,
            "file": value::FILE.as_str(),
            "label": value::LABEL.as_str(),
            "of_labels": value::OF_LABELS,
            "hash": value::HASH.as_str(),
            "state": value::STATE.as_str(),
            "public_keys": value::PUBLIC_KEYS.as_str(),
            "key_name": value::KEY_NAME.as_str(),
            "ordinary": value::WORDS.as_str(),
            "communities": name::OF_COMMUNITIES,
            "of_words": name::OF_WORDS,
            "certificates": value::CERTIFICATES.as_str(),
            "arn": value::ARN.as_str(),
            "object": value::OBJECT.as_str(),
            "of_objects": name::OF_OBJECTS,
            "url": value::URL.as_str(),
            "key_id": value::KEY_ID.as_str(),
            "of_locations": name::OF_LOCATIONS,
            "cloud_key": value::CLOUD_KEY.as_str(),
            "of_cloud_keys": name::OF_CLOUD_KEYS,
        },
        "pairs": {
            "names": known::PAIR_NAMES.as_slice(),
            "values": known::PAIR_VALUES,
            "types": known::PAIR_TYPES,
            "secret_types": known::SECRET_TYPES,
            "switches": known::SECRET_SWITCHES,
            "switched_on": known::SWITCHED_ON,
            "matches": known::OF_MATCHES,
            "secret_data": known::SECRET_DATA,
        },
        "switches": {
            "first": arguments::FIRST_OF_SWITCHES,
            "last": arguments::LAST_OF_SWITCHES,
            "doubtful": arguments::FIRST_OF_DOUBTFUL,
        },
        "prose": {
            "word": prose::WORD.as_str(),
            "of_sentences": prose::OF_SENTENCES.as_slice(),
            "of_messages": prose::OF_MESSAGES.as_slice(),
            "units": prose::UNITS,
            "numbered": prose::NUMBERED,
        },
        "message": {
            "program": message::PROGRAM.as_str(),
            "shared": message::SHARED.as_str(),
            "failure": message::FAILURE.as_str(),
            "phrase": message::PHRASE.as_str(),
            "result": message::RESULT.as_str(),
        },
        "hidden": HIDDEN,
        "shortest": SHORTEST,
        "shortest_line": SHORTEST_LINE,
        "no_value": arguments::NO_VALUE.as_str(),
        "file_name": value::FILE_NAME.as_str(),
        "budget": finder::BUDGET,
        "outline": forms::OUTLINE.as_str(),
        "item_name": variants::ITEM_NAME.as_str(),
        "reference": reference::REFERENCE.as_str(),
        "no_name": reference::NO_NAME.as_str(),
        "default": reference::DEFAULT.as_str(),
        "assigned": assigned::ASSIGNED.as_str(),
        "word_end": assigned::WORD_END.as_str(),
        "template_within": assigned::TEMPLATE_WITHIN,
        "login": shapes::LOGIN.as_str(),
        "kubeadm": shapes::KUBEADM.as_str(),
        "jwt": shapes::JWT.as_str(),
        "service": shapes::SERVICE.as_str(),
        "service_starts": *shapes::SERVICE_STARTS,
        "form": shapes::FORM.as_str(),
        "form_parts": shapes::FORM_PARTS,
        "long": shapes::LONG.as_str(),
        "public_key_starts": shapes::PUBLIC_KEY_STARTS,
        "key": {
            "begin": private_key::BEGIN.as_str(),
            "inline": private_key::INLINE.as_str(),
            "end": private_key::END.as_str(),
            "body": private_key::BODY.as_str(),
        },
    })
}
