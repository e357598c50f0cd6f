import { basename } from 'node:path'

/** A platform of a release, and the file name of its executable. */
export type Target = { readonly file: string; readonly runtime: Bun.Build.CompileTarget }

/** The platforms of a release. */
export const targets: readonly Target[] = [
  { file: 'weir-linux-x64', runtime: 'bun-linux-x64' },
  { file: 'weir-linux-arm64', runtime: 'bun-linux-arm64' },
  { file: 'weir-linux-x64-musl', runtime: 'bun-linux-x64-musl' },
  { file: 'weir-darwin-arm64', runtime: 'bun-darwin-arm64' },
  { file: 'weir-windows-x64.exe', runtime: 'bun-windows-x64' },
]

/** Returns the SHA-256 of each file, by its name without the folder. */
export async function checksums(files: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const entries = files.map(async (file) => [basename(file), await sha256(file)] as const)
  return new Map(await Promise.all(entries))
}

/** Formats checksums with one line a file, as `sha256sum --check` reads them. */
export function formatChecksums(sums: ReadonlyMap<string, string>): string {
  return [...sums].map(([file, sum]) => `${sum}  ${file}\n`).join('')
}

async function sha256(file: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  for await (const bytes of Bun.file(file).stream()) hash.update(bytes)
  return hash.digest('hex')
}

/** The values of a formula: those of the project, and the checksum of each released file by its name. */
type FormulaValues = {
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
