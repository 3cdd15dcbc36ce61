package upstream

// CheckPublic is the check of a resolved address.
var CheckPublic = checkPublic
