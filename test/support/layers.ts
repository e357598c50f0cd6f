/** The layers of `src`, lowest first. Those of one row do not know each other. */
const layers: readonly (readonly string[])[] = [
  ['lib'],
  // Code of browsers: the gateway knows only the files that the bundler makes of it.
  ['page'],
  ['domain'],
  ['config'],
  ['storage'],
  ['providers'],
  ['gateway'],
  ['observability'],
  ['http'],
  // The start that all generating APIs share.
  ['api/generate.ts'],
  [
    'api/chat-completions',
    'api/responses',
    'api/messages',
    'api/completions',
    'api/embeddings',
    'api/models',
    'api/organization',
    'api/admin',
    'api/page',
    'api/system',
  ],
  ['server'],
  ['cli'],
  ['main.ts'],
  ['build'],
]

/** The file of the page that takes the types of the API's objects from their schemas. */
export const pageObjects = 'src/page/api/objects.ts'

/** Why a file of `src` may not import another one, in a sentence; null where it may. Paths are from the root. */
export function layerBreach(importing: string, imported: string): string | null {
  if (!imported.startsWith('src/')) return null
  const [from, to] = [layerOf(importing), layerOf(imported)]
  const [height, depth] = [heightOf(from), heightOf(to)]
  if (height < 0) return `${importing} is in no layer.`
  if (depth < 0) return `${imported} is in no layer.`
  if (from === to || (depth < height && to !== 'page')) return null
  if (importing === pageObjects && imported.startsWith('src/http/objects/')) return null
  return `${importing} imports ${imported}: ${from} may not know ${to}.`
}

/** The folder below `src`, or below `src/api`, where each API is a layer of its own. */
function layerOf(path: string): string {
  const [, folder = '', api = ''] = path.split('/')
  return folder === 'api' ? `api/${api}` : folder
}

function heightOf(layer: string): number {
  return layers.findIndex((row) => row.includes(layer))
}
