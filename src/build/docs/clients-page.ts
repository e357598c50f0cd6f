import { chooseModel, type ConnectCandidate } from '../../cli/connect/choose-model.ts'
import { exportLines } from '../../cli/connect/render.ts'
import type { ConnectTool, ToolSettings } from '../../cli/connect/tool.ts'
import { connectTools } from '../../cli/connect/tools.ts'
import { catalog } from '../../config/catalog.ts'
import { fenced } from './markdown.ts'
import type { Page } from './page.ts'

/** The settings of each tool, as `weir connect` prints them. */
export const clientsPage: Page = {
  path: 'docs/clients.md',
  regions: () => Object.fromEntries(connectTools.map((tool) => [tool.name, settingsMarkdown(tool)])),
}

/** The address of the page's examples: the default of `weir serve`. */
const exampleOrigin = 'http://127.0.0.1:9347'
/** The models of the page's examples. */
const exampleModels = ['openai/gpt-5-mini', 'anthropic/claude-sonnet-5', 'anthropic/claude-haiku-4-5']

function settingsMarkdown(tool: ConnectTool): string {
  const choice = chooseModel(tool, exampleModels.map(catalogModel))
  const settings = tool.settings({ origin: exampleOrigin, ...choice })
  const blocks = [
    fence('sh', shellLines(settings)),
    ...settings.files.flatMap(({ path, format, content }) => [`\`${path}\`:`, fence(format, content)]),
    fence('sh', settings.command),
    settings.notes.map((note) => `- ${note}`).join('\n'),
  ]
  const text = blocks.filter((block) => block !== '').join('\n\n')
  // The blocks are in the form that the command prints, whatever the formatter prefers.
  return `<!-- prettier-ignore-start -->\n\n${text}\n\n<!-- prettier-ignore-end -->`
}

function shellLines(settings: ToolSettings): string {
  return [settings.install ?? '', exportLines(settings, undefined)].filter((line) => line !== '').join('\n')
}

function fence(language: string, text = ''): string {
  return text === '' ? '' : fenced(language, text)
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
