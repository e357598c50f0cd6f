import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { exportLines } from '../../src/cli/connect/tool.ts'
import { connectTools } from '../../src/cli/connect/tools.ts'
import { catalog } from '../../src/config/catalog.ts'
import { projectFolder } from '../support/source.ts'

const pages = [
  { tool: 'claude-code', path: 'docs/claude-code.md', slug: 'local/qwen3-coder' },
  { tool: 'codex', path: 'docs/codex.md', slug: 'openai/gpt-6-luna' },
]

describe.each(pages)('$path', ({ tool, path, slug }) => {
  test('has the settings that weir connect prints', async () => {
    const page = await Bun.file(join(projectFolder, path)).text()
    const settings = connectTools.find(({ name }) => name === tool)?.settings(inputFor(slug))
    if (settings === undefined) throw new Error(`There is no tool ${tool}.`)
    expect(page).toContain(`weir connect ${tool} --create-key --model ${slug}\n`)
    expect(page).toContain(`\n${exportLines(settings, 'KEY').replace('=KEY', '=sk-weir-…')}\n`)
    for (const { content } of settings.files) expect(page).toContain(`\n${content}`)
    expect(page).toContain(`\n${settings.command}\n`)
  })
})

function inputFor(slug: string) {
  const facts = catalog.models.find((model) => model.slug === slug)
  const contextWindow = facts?.context_window
  const model = { slug, displayName: slug, contextWindow, tools: true, images: false, schemas: true }
  return { origin: 'http://127.0.0.1:9347', model, models: [model] }
}
