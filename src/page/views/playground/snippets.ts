import { type GenerationRequest, pathOf, requestBody, toMessage } from '../../api/generate.ts'

/** The same request as code of a language. */
export type Snippet = { readonly id: string; readonly label: string; readonly code: string }

/** The variable that has the key: code is shared, a key is not. */
const keyVariable = 'WEIR_API_KEY'
/** Characters; a longer data URL is shortened. */
const maxImageLength = 120

/** The request as curl, Python, TypeScript and for the AI SDK, with the address of this gateway. */
export function snippetsOf(request: GenerationRequest, origin: string): readonly Snippet[] {
  const body = shortenImages(requestBody(request))
  const isChat = request.parameters.api === 'chat'
  return [
    { id: 'curl', label: 'curl', code: curl(`${origin}${pathOf[request.parameters.api]}`, body) },
    { id: 'python', label: 'Python', code: python(`${origin}/v1`, body, isChat) },
    { id: 'typescript', label: 'TypeScript', code: typescript(`${origin}/v1`, body, isChat) },
    { id: 'ai-sdk', label: 'AI SDK', code: aiSdk(`${origin}/v1`, request) },
  ]
}

type Body = Readonly<Record<string, unknown>>

function curl(url: string, body: Body): string {
  return [
    `curl -N ${url} \\`,
    `  -H "Authorization: Bearer $${keyVariable}" \\`,
    '  -H "Content-Type: application/json" \\',
    `  -d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`,
  ].join('\n')
}

function python(baseUrl: string, body: Body, isChat: boolean): string {
  const values = Object.entries(body).map(([name, value]) => `    ${name}=${pythonValue(value, 1)},`)
  const use = isChat
    ? [
        'for chunk in stream:',
        '    if chunk.choices:',
        '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
      ]
    : [
        'for event in stream:',
        '    if event.type == "response.output_text.delta":',
        '        print(event.delta, end="", flush=True)',
      ]
  return [
    'import os',
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key=os.environ["${keyVariable}"])`,
    `stream = client.${isChat ? 'chat.completions' : 'responses'}.create(`,
    ...values,
    ')',
    ...use,
  ].join('\n')
}

/** JSON as a literal of Python; its strings are valid there too. */
function pythonValue(value: unknown, depth: number): string {
  const indent = '    '.repeat(depth + 1)
  const end = '    '.repeat(depth)
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null || value === undefined) return 'None'
  if (Array.isArray(value)) {
    const items = value.map((item) => `${indent}${pythonValue(item, depth + 1)},\n`)
    return items.length === 0 ? '[]' : `[\n${items.join('')}${end}]`
  }
  if (typeof value !== 'object') return JSON.stringify(value)
  const fields = Object.entries(value).map(
    ([name, field]) => `${indent}${JSON.stringify(name)}: ${pythonValue(field, depth + 1)},\n`,
  )
  return fields.length === 0 ? '{}' : `{\n${fields.join('')}${end}}`
}

function typescript(baseUrl: string, body: Body, isChat: boolean): string {
  const use = isChat
    ? "for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '')"
    : "for await (const event of stream)\n  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta)"
  return [
    "import OpenAI from 'openai'",
    '',
    `const client = new OpenAI({ baseURL: ${JSON.stringify(baseUrl)}, apiKey: process.env.${keyVariable} })`,
    `const stream = await client.${isChat ? 'chat.completions' : 'responses'}.create(${literal(body)})`,
    use,
  ].join('\n')
}

/** JSON as a literal of TypeScript. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([a-zA-Z_]\w*)": /gm, '$1$2: ')
}

function aiSdk(baseUrl: string, request: GenerationRequest): string {
  const { temperature, maxTokens, effort, system, schema } = request.parameters
  const imagePart = (image: string) => ({ type: 'image', image })
  const options = {
    ...(system !== '' && { system }),
    messages: shortenImages(request.messages.map((message) => toMessage(message, 'text', imagePart))),
    ...(temperature !== '' && { temperature: Number(temperature.replace(',', '.')) }),
    ...(maxTokens !== '' && { maxOutputTokens: Number(maxTokens) }),
    ...(effort !== '' && { providerOptions: { weir: { reasoningEffort: effort } } }),
  }
  const lines = literal(options).split('\n').slice(1)
  const output =
    schema.trim() === '' ? [] : [`  output: Output.object({ schema: jsonSchema(${schema.trim()}) }),`]
  const imports = schema.trim() === '' ? 'streamText' : 'jsonSchema, Output, streamText'
  return [
    "import { createOpenAICompatible } from '@ai-sdk/openai-compatible'",
    `import { ${imports} } from 'ai'`,
    '',
    'const weir = createOpenAICompatible({',
    "  name: 'weir',",
    `  baseURL: ${JSON.stringify(baseUrl)},`,
    `  apiKey: process.env.${keyVariable},`,
    '  includeUsage: true,',
    '  supportsStructuredOutputs: true,',
    '})',
    'const { textStream } = streamText({',
    `  model: weir(${JSON.stringify(request.model)}),`,
    ...output,
    ...lines.slice(0, -1),
    '})',
    'for await (const text of textStream) process.stdout.write(text)',
  ].join('\n')
}

function shortenImages<Value>(value: Value): Value {
  const text = JSON.stringify(value, (_, field: unknown) =>
    typeof field === 'string' && field.startsWith('data:image/') && field.length > maxImageLength
      ? `${field.slice(0, field.indexOf(',') + 1)}…`
      : field,
  )
  return JSON.parse(text) as Value
}
