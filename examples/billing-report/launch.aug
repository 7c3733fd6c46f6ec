// An agent gets one tool; filling it in starts the process.
tool billing_report = LaunchProcess(aug:processes/billing-report:1);
