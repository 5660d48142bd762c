package report

const settingPrefix = "memorysetup-"
