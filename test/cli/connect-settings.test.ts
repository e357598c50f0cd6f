import { describe, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import {
  type ConnectInput,
  connectJson,
  connectText,
  type FileFormat,
  keyVariable,
} from '../../src/cli/connect/tool.ts'
import { connectTools } from '../../src/cli/connect/tools.ts'
import { quoted } from '../../src/cli/quote.ts'
import { hostileTexts } from './support/hostile-texts.ts'

const origin = 'https://weir.example.com'
const key = 'sk-weir-Test00000000-SecretSecretSecretSecretSecret00'

function inputFor(slug: string, apiKey: string | undefined = key): ConnectInput {
  const model = {
    slug,
    displayName: slug,
    contextWindow: 128_000,
    maxOutputTokens: 8000,
    tools: true,
    images: true,
    schemas: true,
  }
  return { origin, key: apiKey, model, models: [model, { ...model, slug: 'acme/other' }] }
}

function resultFor(tool: (typeof connectTools)[number], input: ConnectInput) {
  return { tool, input, settings: tool.settings(input), running: true, notes: [] }
}

/** Parsers of the formats that have one here; the others are run by other tests. */
const parsers: Partial<Record<FileFormat, (text: string) => unknown>> = {
  json: JSON.parse,
  yaml: Bun.YAML.parse,
  toml: Bun.TOML.parse,
  javascript: (text) => new Bun.Transpiler({ loader: 'js' }).scan(text),
}

describe.each(connectTools.map((tool) => [tool.name, tool] as const))('weir connect %s', (_, tool) => {
  test('prints the base URL, the key and the model', () => {
    const result = resultFor(tool, inputFor('acme/river'))
    for (const text of [connectText(result), JSON.stringify(connectJson(result))]) {
      expect(text).toContain(result.settings.baseUrl ?? `${origin}/v1`)
      expect(text).toContain(key)
      expect(text).toContain('acme/river')
    }
  })

  test('prints the key once, so that there is one place to protect', () => {
    const text = connectText(resultFor(tool, inputFor('acme/river')))
    expect(text.split(key)).toHaveLength(2)
  })

  test('refers to the environment where it has no key', () => {
    const { key: _, ...input } = inputFor('acme/river')
    const text = connectText(resultFor(tool, input))
    expect(text).not.toContain('sk-weir-Test')
    expect(text).not.toContain('undefined')
    const { environment, files } = tool.settings(input)
    // The others have their settings in a window.
    if (Object.keys(environment).length + files.length > 0) expect(text).toContain(keyVariable)
  })

  test('prints files that their format parses, whatever the model and the key are', () => {
    for (const hostile of ['acme/river', ...hostileTexts])
      for (const { content, format } of tool.settings(inputFor(hostile, hostile)).files) {
        expect(content).toEndWith('\n')
        expect(() => parsers[format]?.(content)).not.toThrow()
      }
  })

  test('keeps a hostile model inside one literal', () => {
    const plain = tool.settings(inputFor('plain-slug')).files
    for (const hostile of hostileTexts)
      for (const [index, { content }] of tool.settings(inputFor(hostile)).files.entries())
        expect(content.split('\n')).toHaveLength(plain[index]!.content.split('\n').length)
  })
})

test('a quoted text is the same in every format that has a parser here', () => {
  for (const text of hostileTexts) {
    const literal = quoted(text)
    const wellFormed = text.toWellFormed()
    expect(JSON.parse(literal)).toBe(wellFormed)
    expect(Bun.YAML.parse(`a: ${literal}`)).toEqual({ a: wellFormed })
    expect(Bun.TOML.parse(`a = ${literal}`)).toEqual({ a: wellFormed })
    expect(new Function(`return ${literal}`)()).toBe(wellFormed)
    expect(literal).not.toMatch(/[\p{Cc}\u2028\u2029]/u)
  }
})

test('the files carry a hostile model unchanged', () => {
  const tool = (name: string) => connectTools.find((tool) => tool.name === name)!
  const contentOf = (name: string, slug: string) => tool(name).settings(inputFor(slug)).files[0]!.content
  for (const slug of hostileTexts.map((text) => text.toWellFormed())) {
    expect(Bun.TOML.parse(contentOf('codex', slug))).toMatchObject({ model: slug })
    expect(Bun.YAML.parse(contentOf('continue', slug))).toMatchObject({ models: [{ model: slug }] })
    expect(JSON.parse(contentOf('zed', slug))).toMatchObject({ agent: { default_model: { model: slug } } })
    for (const agent of ['opencode', 'kilo'])
      expect(JSON.parse(contentOf(agent, slug))).toMatchObject({ model: `weir/${slug}` })
    expect(JSON.parse(contentOf('vscode', slug))).toMatchObject([{ models: [{ id: slug }, {}] }])
    expect(JSON.parse(contentOf('qwen-code', slug))).toMatchObject({ model: { name: slug } })
    expect(JSON.parse(contentOf('goose', slug))).toMatchObject({ models: [{ name: slug }, {}] })
    const [entry] = Bun.YAML.parse(contentOf('llm', slug)) as { model_name: string }[]
    expect(entry?.model_name).toBe(slug)
  }
})

test('Continue knows how much the model takes and writes, of which the reply has a quarter at most', () => {
  const { settings } = connectTools.find(({ name }) => name === 'continue')!
  const optionsFor = (limits: Pick<ConnectInput['model'], 'contextWindow' | 'maxOutputTokens'>) => {
    const { contextWindow: _, maxOutputTokens: _output, ...model } = inputFor('acme/river').model
    const [file] = settings({ ...inputFor('acme/river'), model: { ...model, ...limits } }).files
    const { models } = Bun.YAML.parse(file!.content) as { models: object[] }
    return models[0]
  }
  expect(optionsFor({ contextWindow: 200_000, maxOutputTokens: 64_000 })).toMatchObject({
    defaultCompletionOptions: { contextLength: 200_000, maxTokens: 50_000 },
  })
  expect(optionsFor({ contextWindow: 200_000, maxOutputTokens: 4000 })).toMatchObject({
    defaultCompletionOptions: { contextLength: 200_000, maxTokens: 4000 },
  })
  expect(optionsFor({})).not.toHaveProperty('defaultCompletionOptions')
})

test('LLM is told what each model can do', () => {
  const { settings } = connectTools.find(({ name }) => name === 'llm')!
  const input = inputFor('acme/river')
  const plain = { ...input.model, slug: 'acme/plain', tools: false, images: false, schemas: false }
  const [file] = settings({ ...input, models: [input.model, plain] }).files
  const connection = { api_base: `${origin}/v1`, api_key_name: 'weir' }
  expect(Bun.YAML.parse(file!.content)).toEqual([
    {
      model_id: 'weir/acme/river',
      aliases: ['weir/default'],
      model_name: 'acme/river',
      ...connection,
      supports_tools: true,
      supports_schema: true,
      vision: true,
    },
    { model_id: 'weir/acme/plain', model_name: 'acme/plain', ...connection },
  ])
})

test('OpenCode, Kilo Code, Continue and Compose find no variable of theirs in a hostile model', () => {
  const contentOf = (name: string, slug: string) =>
    connectTools.find((tool) => tool.name === name)!.settings(inputFor(slug)).files[0]!.content
  for (const slug of hostileTexts) {
    for (const agent of ['opencode', 'kilo'])
      expect(contentOf(agent, slug).match(/\{(env|file):[^}]*\}/g)).toEqual(['{env:WEIR_API_KEY}'])
    expect(contentOf('continue', slug)).not.toContain('${{')
    const variables = contentOf('open-webui', slug).replaceAll('$$', '').match(/\$\S*/g)
    expect(variables).toEqual(['${WEIR_API_KEY}"'])
  }
})

test('a shell reads the variables and the arguments of a command as they are', async () => {
  // A shell has no way to pass a zero byte, nor has a process.
  for (const text of hostileTexts.filter((text) => !text.includes('\0')).map((text) => text.toWellFormed())) {
    const claude = connectText(
      resultFor(
        connectTools.find(({ name }) => name === 'claude-code')!,
        inputFor(text, text),
      ),
    )
    const exports = claude.slice(claude.indexOf('export '), claude.indexOf('\n\nRun:'))
    expect(await shell(`${exports}\nprintf %s "$ANTHROPIC_MODEL"`)).toBe(text)
    expect(await shell(`${exports}\nprintf %s "$ANTHROPIC_AUTH_TOKEN"`)).toBe(text)
    const commandOf = (tool: string) =>
      connectTools.find(({ name }) => name === tool)?.settings(inputFor(text)).command
    expect(await shell(`aider() { printf '%s|' "$@"; }\n${commandOf('aider')}`)).toBe(
      `--model|openai/${text}|`,
    )
    const words = await shell(`cline() { printf '%s|' "$@"; }\n${commandOf('cline')}`)
    expect(words).toEndWith(`|--modelid|${text}||`)
  }
})

describe('a tool that sends a temperature of its own', () => {
  const settingsOf = (tool: string) =>
    connectTools.find(({ name }) => name === tool)?.settings(inputFor('acme/river'))

  test('has one in its program that every model accepts', () => {
    expect(settingsOf('llamaindex')?.files?.[0]?.content).toContain('\n    temperature=1,\n')
  })

  test('has a note with the line that omits it', () => {
    const line = '- { name: "openai/acme/river", use_temperature: false }'
    expect(settingsOf('aider')?.notes?.join('\n')).toContain(line)
  })
})

async function shell(script: string): Promise<string> {
  const child = Bun.spawn(['sh', '-c', script], {
    cwd: tmpdir(),
    env: {},
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return child.stdout.text()
}
