package classify

// HardQuotas returns the classifier "hard-quotas", which forbids the retry of errors about an account
// quota that is not a rate, such as LimitExceededException of CloudWatch Logs: another attempt cannot
// succeed until something is deleted or the quota is raised. It knows them by code and service, from
// the AWS models. Without a known service it has no opinion, see Outcome.Service.
//
// [Default] retries such an error if the AWS SDKs do, as a throttle that cuts no send rate. To forbid
// that, add HardQuotas: Also(HardQuotas()).
func HardQuotas() Classifier { return &hardQuotaClassifier{} }

type hardQuotaClassifier struct{}

func (*hardQuotaClassifier) Name() string { return "hard-quotas" }

func (c *hardQuotaClassifier) Classify(o Outcome) Verdict { return alone(c, &o) }

func (*hardQuotaClassifier) opinion(o *Outcome, f *facts) Verdict {
	if f.isHardQuota(o) {
		return Forbidden()
	}
	return Verdict{}
}

// isHardQuota reports whether the error is about an account quota that is not a rate.
func (f *facts) isHardQuota(o *Outcome) bool { return f.code != "" && f.meaning(o) == isHard }

// service returns the id of the service, or what the error says of it.
func (o *Outcome) service() string {
	if o.Service != "" {
		return o.Service
	}
	return serviceOf(o.Err)
}
