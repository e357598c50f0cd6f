/** The values of a formula: those of the project, and the checksum of each released file by its name. */
export type FormulaValues = {
  readonly version: string
  readonly homepage: string
  readonly license: string
  readonly checksums: ReadonlyMap<string, string>
}

/** Fills in the template of the Homebrew formula; throws if a value is missing. */
export function renderFormula(template: string, values: FormulaValues): string {
  // The first line explains the template.
  const formula = template.replace(/^#.*\n/, '')
  return formula.replaceAll(/(?<!#)\{([^{}\n]+)\}/g, (_, name: string) => valueOf(name, values))
}

function valueOf(name: string, { version, homepage, license, checksums }: FormulaValues): string {
  const [, file] = /^sha256 (\S+)$/.exec(name) ?? []
  const value = file === undefined ? { version, homepage, license }[name] : checksums.get(file)
  if (value === undefined) throw new Error(`The formula has no value for {${name}}.`)
  return value
}
