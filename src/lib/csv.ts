/** A value of a cell; null is an empty one. */
export type CsvValue = string | number | null | undefined

/** What spreadsheets calculate, also after spaces and in the wide forms of East Asian scripts. */
const formula = /^\s*[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20]/
const decimal = /^-?\d+(\.\d+)?$/

/** A line of CSV after RFC 4180, without its end. */
export function csvLine(values: readonly CsvValue[]): string {
  return values.map(csvCell).join()
}

/** What a terminal obeys, on which a file may be shown: clients choose the names of users and sessions. */
const control = /[^\P{Cc}\t\r\n]/gu

/** An apostrophe keeps a spreadsheet from calculating a text that begins like a formula; numbers stay numbers. */
function csvCell(value: CsvValue): string {
  const text = String(value ?? '').replace(control, '\ufffd')
  const safe = formula.test(text) && !decimal.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
