use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn job(spec: &Value) -> Job {
    let mut job = json!({"metadata": {"name": "grow", "namespace": "n", "uid": "u"}, "spec": {"backoffLimit": 0, "template": {
        "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}}}});
    for (key, value) in spec.as_object().unwrap() {
        job["spec"][key] = value.clone();
    }
    serde_json::from_value(job).unwrap()
}

fn pod(name: &str, phase: &str, deleting: bool) -> Arc<Pod> {
    let mut pod =
        json!({"metadata": {"name": name, "uid": name, "finalizers": [TRACKING]}, "status": {"phase": phase}});
    if deleting {
        pod["metadata"]["deletionTimestamp"] = json!(Time(at(30)));
    }
    if phase == "Failed" {
        let ended = json!({"exitCode": 1, "finishedAt": Time(at(10))});
        pod["status"]["containerStatuses"] = json!([{"name": "c", "image": "", "imageID": "", "ready": false, "restartCount": 0, "state": {"terminated": ended}}]);
    }
    Arc::new(serde_json::from_value(pod).unwrap())
}

/// The Job after the plan's status is written.
fn after(mut job: Job, plan: &Plan) -> Job {
    if let Some(patch) = &plan.status {
        job.status = Some(serde_json::from_value(patch["status"].clone()).unwrap());
    }
    job
}

fn condition<'a>(job: &'a Job, kind: &str) -> Option<(&'a str, &'a str)> {
    let found = job.status.as_ref()?.conditions.as_ref()?.iter().find(|c| c.type_ == kind)?;
    Some((found.status.as_str(), found.reason.as_deref()?))
}

/// active, ready, terminating, succeeded, failed
fn counts(job: &Job) -> [Option<i32>; 5] {
    let s = job.status.as_ref().unwrap();
    [s.active, s.ready, s.terminating, s.succeeded, s.failed]
}

#[test]
fn a_new_job_gets_one_pod_and_a_start_time() {
    let job = job(&json!({}));
    let first = plan(&job, &[], at(0));
    let made = first.create.as_deref().unwrap();
    assert!(made.name_any().starts_with("grow-") && made.name_any().len() == 10, "{}", made.name_any());
    assert_eq!((made.labels()["a"].as_str(), made.owner_references()[0].uid.as_str()), ("b", "u"));
    let job = after(job, &first);
    assert_eq!(counts(&job), [Some(1), Some(0), Some(0), None, None]);
    // Planned again before the watch delivers the pod, it has the same name, so the API refuses to create it twice.
    assert_eq!(plan(&job, &[], at(1)).create.unwrap().name_any(), made.name_any());
}

#[test]
fn a_running_pod_is_active_and_ready_and_planned_once() {
    let job = job(&json!({}));
    let running = [pod("p", "Running", false)];
    let first = plan(&job, &running, at(0));
    let job = after(job, &first);
    assert_eq!(counts(&job), [Some(1), Some(1), Some(0), None, None]);
    let second = plan(&job, &running, at(5));
    assert!(second.status.is_none() && second.create.is_none() && second.reports.is_empty());
}

#[test]
fn a_succeeded_pod_completes_the_job_and_is_released() {
    let pods = [pod("p", "Succeeded", false)];
    let done = plan(&job(&json!({})), &pods, at(9));
    let job = after(job(&json!({})), &done);
    assert_eq!(condition(&job, "SuccessCriteriaMet"), Some(("True", "CompletionsReached")));
    assert_eq!(condition(&job, "Complete"), Some(("True", "CompletionsReached")));
    assert_eq!(counts(&job), [None, Some(0), Some(0), Some(1), None]);
    assert_eq!(job.status.as_ref().unwrap().completion_time.as_ref().unwrap().0, at(9));
    assert!(done.release.is_empty(), "the Job's status is written first");
    assert_eq!(plan(&job, &pods, at(10)).release.len(), 1);
}

#[test]
fn with_backoff_limit_zero_the_first_failure_is_final() {
    let pods = [pod("p", "Failed", false)];
    let done = plan(&job(&json!({})), &pods, at(11));
    let job = after(job(&json!({})), &done);
    assert_eq!(condition(&job, "FailureTarget"), Some(("True", "BackoffLimitExceeded")));
    assert_eq!(condition(&job, "Failed"), Some(("True", "BackoffLimitExceeded")));
    assert_eq!(counts(&job)[4], Some(1));
    assert!(done.create.is_none() && job.status.as_ref().unwrap().completion_time.is_none());
}

#[test]
fn with_a_backoff_limit_the_next_attempt_waits() {
    let job = job(&json!({"backoffLimit": 2}));
    let failed = [pod("p", "Failed", false)];
    let waiting = plan(&job, &failed, at(12));
    assert_eq!((waiting.create.is_none(), waiting.again_in), (true, Some(SignedDuration::from_secs(8))));
    let next = plan(&job, &failed, at(20)).create.unwrap();
    assert_ne!(next.name_any(), plan(&job, &[], at(0)).create.unwrap().name_any());
}

#[test]
fn the_pod_of_a_suspended_job_is_stopped_and_not_counted() {
    let running = [pod("p", "Running", false)];
    let suspending = plan(&job(&json!({"suspend": true})), &running, at(1));
    assert_eq!(suspending.delete.len(), 1);
    let job = after(job(&json!({"suspend": true})), &suspending);
    assert_eq!(condition(&job, "Suspended"), Some(("True", "JobSuspended")));
    assert_eq!(counts(&job), [Some(0), Some(0), Some(1), None, None]);
    let ended = [pod("p", "Failed", true)];
    let after_end = plan(&job, &ended, at(5));
    let job = after(job, &after_end);
    assert_eq!(
        (counts(&job), after_end.release.len(), condition(&job, "Failed")),
        ([Some(0), Some(0), Some(0), None, None], 1, None)
    );
}

#[test]
fn a_suspended_job_makes_no_pod_until_it_is_resumed() {
    let suspended = plan(&job(&json!({"suspend": true})), &[], at(0));
    assert!(suspended.create.is_none());
    let mut job = after(job(&json!({"suspend": true})), &suspended);
    assert!(job.status.as_ref().unwrap().start_time.is_none());
    job.spec.as_mut().unwrap().suspend = Some(false);
    let resumed = plan(&job, &[], at(100));
    assert!(resumed.create.is_some());
    let job = after(job, &resumed);
    assert_eq!(condition(&job, "Suspended"), Some(("False", "JobResumed")));
    assert_eq!(job.status.unwrap().start_time.unwrap().0, at(100));
}

#[test]
fn a_job_over_its_deadline_fails_once_its_pod_has_ended() {
    let started = after(
        job(&json!({"activeDeadlineSeconds": 60})),
        &plan(&job(&json!({"activeDeadlineSeconds": 60})), &[], at(0)),
    );
    let running = [pod("p", "Running", false)];
    assert_eq!(plan(&started, &running, at(20)).again_in, Some(SignedDuration::from_secs(40)));
    let late = plan(&started, &running, at(60));
    assert_eq!(late.delete.len(), 1);
    let job = after(started, &late);
    assert_eq!(
        (condition(&job, "FailureTarget"), condition(&job, "Failed")),
        (Some(("True", "DeadlineExceeded")), None)
    );
    let job = after(job.clone(), &plan(&job, &[pod("p", "Failed", true)], at(70)));
    assert_eq!(condition(&job, "Failed"), Some(("True", "DeadlineExceeded")));
}

#[test]
fn a_pod_deleted_by_a_user_counts_as_failed() {
    let mut job = job(&json!({}));
    let deleting = plan(&job, &[pod("p", "Running", true)], at(0));
    assert!(deleting.create.is_none(), "the first pod still runs");
    job = after(job, &deleting);
    assert_eq!(counts(&job), [Some(0), Some(0), Some(1), None, None]);
    job = after(job.clone(), &plan(&job, &[pod("p", "Failed", true)], at(5)));
    assert_eq!(condition(&job, "Failed"), Some(("True", "BackoffLimitExceeded")));
}

#[test]
fn a_finished_job_is_deleted_after_its_time_to_live() {
    let job = job(&json!({"ttlSecondsAfterFinished": 100}));
    let job = after(job.clone(), &plan(&job, &[pod("p", "Succeeded", false)], at(0)));
    let waiting = plan(&job, &[], at(40));
    assert_eq!((waiting.expire, waiting.again_in), (false, Some(SignedDuration::from_secs(60))));
    assert!(plan(&job, &[], at(100)).expire);
}

/// A client may write any completion time into the status.
#[test]
fn a_job_that_ended_in_the_year_9999_stays() {
    let job = job(&json!({"ttlSecondsAfterFinished": i32::MAX}));
    let job = after(job.clone(), &plan(&job, &[pod("p", "Succeeded", false)], Timestamp::MAX));
    assert!(!plan(&job, &[], at(0)).expire);
}
