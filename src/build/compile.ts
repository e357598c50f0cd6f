import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { type BundledFile, bundlePage } from '../api/page/bundle.ts'
import type { Encoding } from '../api/page/page-file.ts'

/**
 * Identifiers are not minified: Elysia parses the source of hooks to find out what they read of a request, and gets it
 * wrong for minified ones, such as those of the bearer plugin.
 */
export const minify = { whitespace: true, syntax: true, identifiers: false }

/**
 * What is never loaded: what Elysia checks the type of an uploaded file with, which no endpoint has, and the client of `pg`
 * for a library of the system. A pattern, because Bun looks for a file of a relative name, whatever this list says.
 */
export const external = ['file-type', '*/native']

/** See `Target` and `recordBytecodeOrder`. */
type CompileOptions = {
  readonly runtime?: Bun.Build.CompileTarget | undefined
  readonly bytecodeOrder?: string | undefined
}

/**
 * Compiles a program and its imports to one executable, by default for this machine, and returns what is in it. Bun
 * downloads the runtime of another platform once, from the package registry.
 */
export async function compile(
  entry: string,
  file: string,
  { runtime, bytecodeOrder }: CompileOptions = {},
): Promise<Bun.BuildMetafile> {
  await mkdir(dirname(file), { recursive: true })
  return build(entry, {
    bytecode: true,
    compile: {
      outfile: file,
      // The executable must behave the same in every folder, whatever files are there.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
      ...(runtime && { target: runtime }),
      ...(bytecodeOrder && { bytecodeOrder }),
    },
  })
}

/** Bundles a program as its executable has it, without a runtime, and returns what is in it. */
export function bundle(entry: string): Promise<Bun.BuildMetafile> {
  return build(entry, {})
}

async function build(entry: string, options: Partial<Bun.BuildConfig>): Promise<Bun.BuildMetafile> {
  await using page = await embedPage()
  const result = await Bun.build({
    entrypoints: [entry],
    target: 'bun',
    // With bytecode alone Bun would pick CommonJS, which has no top-level await.
    format: 'esm',
    // A command loads only its own code. `serve` starts twice, see `raiseRequestLimit`: the first time costs next to nothing.
    splitting: true,
    minify,
    external,
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [page.plugin],
    metafile: true,
    throw: false,
    ...options,
  } as Bun.BuildConfig)
  if (!result.success) throw new Error(result.logs.map(String).join('\n'))
  if (result.metafile === undefined) throw new Error('The bundler did not report what is in the bundle.')
  return withOutputs(result.metafile, page.metafile)
}

/** Adds what is in the page, if the program has it. */
function withOutputs(program: Bun.BuildMetafile, page: Bun.BuildMetafile): Bun.BuildMetafile {
  const hasPage = Object.keys(program.inputs).some((path) =>
    /[\\/]api[\\/]page[\\/]page-files\.ts$/.test(path),
  )
  if (!hasPage) return program
  const pageOutputs = Object.entries(page.outputs).map(([path, output]) => [`page/${path}`, output])
  return { ...program, outputs: { ...program.outputs, ...Object.fromEntries(pageOutputs) } }
}

/** The page, ready to be embedded in a program that is being built. */
type PageEmbedding = {
  /** Replaces the module that would bundle the page when it runs. */
  readonly plugin: Bun.BunPlugin
  /** The files of the page. */
  readonly metafile: Bun.BuildMetafile
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Bundles and compresses the page for a program. A plugin, because a macro cannot run the bundler, and because the
 * files of an executable are read when they are requested: as strings of the program they would cost time at each start.
 */
async function embedPage(): Promise<PageEmbedding> {
  // Before the program: the bundler would wait forever for a plugin that waits for the bundler.
  const { files, metafile } = await bundlePage()
  const folder = await mkdtemp(join(tmpdir(), 'weir-page-'))
  const load = async () => ({
    contents: moduleText(await Promise.all(files.map((file) => writeEncodings(file, folder)))),
    loader: 'ts' as const,
  })
  return {
    plugin: {
      name: 'page',
      setup(build) {
        build.onLoad({ filter: /[\\/]api[\\/]page[\\/]page-files\.ts$/ }, load)
      },
    },
    metafile,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** The encodings of a file. Brotli is the smallest, and gzip is what a browser accepts without TLS. */
export async function compressPageFile({
  content,
}: BundledFile): Promise<Readonly<Record<Encoding, Uint8Array>>> {
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(content),
    promisify(gzip)(content, { level: 9 }),
  ])
  return { identity: content, gzip: gz, br }
}

type Entry = { readonly file: BundledFile; readonly copies: readonly (readonly [Encoding, string])[] }

async function writeEncodings(file: BundledFile, folder: string): Promise<Entry> {
  const encodings = Object.entries(await compressPageFile(file)) as [Encoding, Uint8Array][]
  const copies = encodings.map(async ([encoding, bytes]) => {
    const path = join(folder, `${file.hash}.${encoding}`)
    await Bun.write(path, bytes)
    return [encoding, path] as const
  })
  return { file, copies: await Promise.all(copies) }
}

function moduleText(entries: readonly Entry[]): string {
  const copies = entries.flatMap(({ copies }) => copies.map(([, path]) => path))
  const name = (path: string) => `file${copies.indexOf(path)}`
  const imports = copies.map(
    (path) => `import ${name(path)} from ${JSON.stringify(path)} with { type: 'file' }`,
  )
  const list = entries.map(({ file: { path, contentType, hash }, copies }) => {
    const encodings = copies.map(([encoding, copy]) => `${encoding}: Bun.file(${name(copy)})`)
    return `{ ...${JSON.stringify({ path, contentType, hash })}, encodings: { ${encodings.join(', ')} } }`
  })
  return [...imports, `export const pageFiles = async () => [${list.join(', ')}]`].join('\n')
}
