package main

import "strings"

// table writes a Markdown table.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + strings.ReplaceAll(c, "|", `\|`) + " |")
		}
		b.WriteString("\n")
	}
	line(head)
	b.WriteString("|" + strings.Repeat("---|", len(head)) + "\n")
	for _, r := range rows {
		line(r)
	}
	return b.String() + "\n"
}

// code sets a word as it stands in records and messages; "" stays empty.
func code[T ~string](word T) string {
	if word == "" {
		return ""
	}
	return "`" + string(word) + "`"
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// contractRows links rows of the contract's table, "2, 11, 18", each to its own.
func contractRows(list string) string {
	var links []string
	for row := range strings.SplitSeq(list, ", ") {
		links = append(links, "["+row+"](contract.md#s3-row-"+row+")")
	}
	return strings.Join(links, ", ")
}
