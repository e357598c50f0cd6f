import manifest from '../../package.json'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { recordBytecodeOrder } from './bytecode-order.ts'
import { compile } from './compile.ts'
import { checksums, formatChecksums, renderFormula, type Target, targets } from './release.ts'
import { install, projectFolder } from './install.ts'
import { bundledPackages, collectThirdParty } from './licenses/third-party.ts'
import { assertLicenseFiles } from './licenses.ts'
import { createSbom, packageFacts } from './sbom.ts'

const { values: flags } = parseArgs({
  options: { all: { type: 'boolean', default: false }, into: { type: 'string' } },
})
const folder = flags.into ?? join(projectFolder, 'dist')
const sbomFile = 'weir.cdx.json'
const localFile = process.platform === 'win32' ? 'weir.exe' : 'weir'

if (!(await install())) process.exit(1)
const program = join(projectFolder, 'src/main.ts')
const orderFolder = await mkdtemp(join(tmpdir(), 'weir-order-'))
try {
  const bytecodeOrder = await recordBytecodeOrder(program, orderFolder)
  await (flags.all ? buildAll(bytecodeOrder) : build({ file: localFile }, bytecodeOrder))
} finally {
  await rm(orderFolder, { recursive: true, force: true })
}

/** Builds what a release consists of. */
async function buildAll(bytecodeOrder: string | undefined): Promise<void> {
  const files: string[] = []
  for (const target of targets) files.push(await build(target, bytecodeOrder))
  const sums = await checksums([...files, join(folder, sbomFile)])
  await write('SHA256SUMS', formatChecksums(sums))
  const { version, homepage, license } = manifest
  const template = await Bun.file(join(projectFolder, 'deploy/homebrew/weir.rb')).text()
  await write('weir.rb', renderFormula(template, { version, homepage, license, checksums: sums }))
}

async function build(
  { file: name, runtime }: Partial<Target> & Pick<Target, 'file'>,
  bytecodeOrder: string | undefined,
): Promise<string> {
  const file = join(folder, name)
  const started = performance.now()
  const metafile = await compile(program, file, { runtime, bytecodeOrder })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(`${displayPath(file)}  ${(Bun.file(file).size / 1024 / 1024).toFixed(1)} MiB  ${seconds} s`)
  await writeSbom(metafile)
  return file
}

/** Writes the bill of materials of this build, which is the same for each platform. */
async function writeSbom(metafile: Bun.BuildMetafile): Promise<void> {
  const thirdParty = await collectThirdParty(metafile)
  await assertLicenseFiles(thirdParty)
  const packages = await packageFacts(bundledPackages(metafile))
  const { components } = thirdParty
  await Bun.write(
    join(folder, sbomFile),
    `${JSON.stringify(createSbom({ components, packages, timestamp: buildTime() }), null, 2)}\n`,
  )
}

/** The time of the build, or the one that a reproducible build sets. */
function buildTime(): Date {
  const seconds = process.env.SOURCE_DATE_EPOCH
  return seconds === undefined ? new Date() : new Date(Number(seconds) * 1000)
}

async function write(name: string, text: string): Promise<void> {
  await Bun.write(join(folder, name), text)
  console.log(displayPath(join(folder, name)))
}

function displayPath(file: string): string {
  return relative(process.cwd(), file)
}
