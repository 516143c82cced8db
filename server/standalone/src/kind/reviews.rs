//! Reviews: resources in discovery, but no objects. A POST is answered, and nothing is stored.

/// A cluster-scoped `v1` resource that clients can only create.
#[derive(Debug, PartialEq)]
pub(crate) struct Review {
    pub(crate) group: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) kind: &'static str,
}

/// All reviews. SubjectAccessReview and LocalSubjectAccessReview, about other users, are not served.
pub(crate) static REVIEWS: [Review; 4] = [
    Review { group: "authentication.k8s.io", plural: "selfsubjectreviews", kind: "SelfSubjectReview" },
    Review { group: "authentication.k8s.io", plural: "tokenreviews", kind: "TokenReview" },
    Review { group: "authorization.k8s.io", plural: "selfsubjectaccessreviews", kind: "SelfSubjectAccessReview" },
    Review { group: "authorization.k8s.io", plural: "selfsubjectrulesreviews", kind: "SelfSubjectRulesReview" },
];
