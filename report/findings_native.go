package report

func nativeFindings(c *context) {}
