import { join } from 'node:path'
import { chooseModel, type ConnectCandidate } from '../../cli/connect/choose-model.ts'
import { exportLines } from '../../cli/connect/render.ts'
import type { ConnectTool, ToolSettings } from '../../cli/connect/tool.ts'
import { connectTools } from '../../cli/connect/tools.ts'
import { catalog } from '../../config/catalog.ts'

/** The page with the settings of each tool. */
export const clientsPagePath = join(import.meta.dir, '../../../docs/clients.md')

/** The address of the page's examples: the default of `weir serve`. */
const exampleOrigin = 'http://127.0.0.1:9347'
/** The models of the page's examples. */
const exampleModels = ['openai/gpt-5-mini', 'anthropic/claude-sonnet-5', 'anthropic/claude-haiku-4-5']

/** Returns the page with the settings of each tool generated between its markers; throws if a marker is missing. */
export function renderClientsPage(page: string): string {
  return connectTools.reduce(replaceSettings, page)
}

function replaceSettings(page: string, tool: ConnectTool): string {
  const [begin, end] = [`<!-- weir connect ${tool.name} -->\n`, `<!-- end of ${tool.name} -->`]
  const [start, stop] = [page.indexOf(begin), page.indexOf(end)]
  if (start < 0 || stop < start) throw new Error(`The page has no region for weir connect ${tool.name}.`)
  return page.slice(0, start + begin.length) + settingsMarkdown(tool) + page.slice(stop)
}

function settingsMarkdown(tool: ConnectTool): string {
  const choice = chooseModel(tool, exampleModels.map(catalogModel))
  const settings = tool.settings({ origin: exampleOrigin, ...choice })
  const blocks = [
    fence('sh', shellLines(settings)),
    ...settings.files.flatMap(({ path, format, content }) => [
      `\`${path}\`:`,
      fence(format, content.trimEnd()),
    ]),
    fence('sh', settings.command),
    settings.notes.map((note) => `- ${note}`).join('\n'),
  ]
  const text = blocks.filter((block) => block !== '').join('\n\n')
  // The blocks are in the form that the command prints, whatever the formatter prefers.
  return `\n<!-- prettier-ignore-start -->\n\n${text}\n\n<!-- prettier-ignore-end -->\n\n`
}

function shellLines(settings: ToolSettings): string {
  return [settings.install ?? '', exportLines(settings, undefined)].filter((line) => line !== '').join('\n')
}

function fence(language: string, text = ''): string {
  return text === '' ? '' : `\`\`\`${language}\n${text}\n\`\`\``
}

function catalogModel(slug: string): ConnectCandidate {
  const model = catalog.models.find((model) => model.slug === slug)
  if (model === undefined) throw new Error(`The catalog has no model ${slug}: choose another for the page.`)
  return {
    slug,
    displayName: model.display_name ?? slug,
    contextWindow: model.context_window,
    maxOutputTokens: model.max_output_tokens,
    tools: model.supported_parameters?.includes('tools') === true,
    images: model.input_modalities?.includes('image') === true,
    text: true,
    created: 0,
    outputPrice: model.pricing?.output,
  }
}

if (import.meta.main)
  await Bun.write(clientsPagePath, renderClientsPage(await Bun.file(clientsPagePath).text()))
