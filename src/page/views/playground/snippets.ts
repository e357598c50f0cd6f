import {
  defaultParameters,
  type GenerationRequest,
  pathOf,
  type PlaygroundMessage,
  requestBody,
} from '../../api/generate.ts'
import type { Model } from '../../api/objects.ts'
import { aiSdk, keyVariable, typescriptLiteral } from './ai-sdk-snippet.ts'

/** The same request as code of a language. */
export type Snippet = { readonly id: string; readonly label: string; readonly code: string }

/** The message of a request before one is written. */
export const exampleMessage: PlaygroundMessage = { role: 'user', text: 'Hello from Weir' }

/** The body of a request, as it is sent. */
type Body = Readonly<Record<string, unknown>>

/** The request as curl, Python, TypeScript and for the AI SDK, with the address of this gateway. */
export function snippetsOf(request: GenerationRequest, origin: string): readonly Snippet[] {
  return [
    ...bodySnippets(pathOf[request.parameters.api], requestBody(request), origin),
    { id: 'ai-sdk', label: 'AI SDK', code: aiSdk(`${origin}/v1`, request) },
  ]
}

/** Whether the playground can talk to a model. */
export function isConversational({ supported_apis: apis }: Pick<Model, 'supported_apis'>): boolean {
  return apis.length === 0 || apis.includes('chat_completions') || apis.includes('responses')
}

/** A first request to a model as code, in an API that it serves; empty if there is none for its APIs. */
export function modelSnippets(
  model: Pick<Model, 'slug' | 'supported_apis'>,
  origin: string,
): readonly Snippet[] {
  const { slug, supported_apis: apis } = model
  if (isConversational(model)) {
    const api = apis.length === 0 || apis.includes('chat_completions') ? 'chat' : 'responses'
    const parameters = { ...defaultParameters, api } as const
    return snippetsOf({ model: slug, messages: [exampleMessage], parameters }, origin)
  }
  const { text } = exampleMessage
  if (apis.includes('embeddings')) return bodySnippets('/v1/embeddings', { model: slug, input: text }, origin)
  if (apis.includes('completions'))
    return bodySnippets('/v1/completions', { model: slug, prompt: text, max_tokens: 100 }, origin)
  return []
}

/** A path of the API with an SDK's name of its resource, and how the result is used. */
type Resource = {
  readonly name: string
  readonly python: readonly string[]
  readonly typescript: readonly string[]
}

const resources = {
  '/v1/chat/completions': {
    name: 'chat.completions',
    python: [
      'for chunk in result:',
      '    if chunk.choices:',
      '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
    ],
    typescript: [
      "for await (const chunk of result) process.stdout.write(chunk.choices[0]?.delta.content ?? '')",
    ],
  },
  '/v1/responses': {
    name: 'responses',
    python: [
      'for event in result:',
      '    if event.type == "response.output_text.delta":',
      '        print(event.delta, end="", flush=True)',
    ],
    typescript: [
      'for await (const event of result)',
      "  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta)",
    ],
  },
  '/v1/embeddings': {
    name: 'embeddings',
    python: ['print(result.data[0].embedding)'],
    typescript: ['process.stdout.write(JSON.stringify(result.data[0]?.embedding))'],
  },
  '/v1/completions': {
    name: 'completions',
    python: ['print(result.choices[0].text)'],
    typescript: ["process.stdout.write(result.choices[0]?.text ?? '')"],
  },
} as const satisfies Readonly<Record<string, Resource>>

/** A request with this body as curl, Python and TypeScript. */
function bodySnippets(path: keyof typeof resources, body: Body, origin: string): readonly Snippet[] {
  return [
    { id: 'curl', label: 'curl', code: curl(`${origin}${path}`, body) },
    { id: 'python', label: 'Python', code: python(`${origin}/v1`, body, resources[path]) },
    { id: 'typescript', label: 'TypeScript', code: typescript(`${origin}/v1`, body, resources[path]) },
  ]
}

/** Characters. The argument of a command is at most 128 KiB on Linux. */
const maxArgumentLength = 100_000

/** No line of JSON is the word that ends the text, because JSON begins with a quote, a bracket or a space there. */
function curl(url: string, body: Body): string {
  const json = JSON.stringify(body, null, 2)
  const data =
    json.length > maxArgumentLength
      ? ["  --data-binary @- <<'JSON'", json, 'JSON']
      : [`  -d '${json.replaceAll("'", "'\\''")}'`]
  return [
    `curl -N ${url} \\`,
    `  -H "Authorization: Bearer $${keyVariable}" \\`,
    '  -H "Content-Type: application/json" \\',
    ...data,
  ].join('\n')
}

function python(baseUrl: string, body: Body, resource: Resource): string {
  const values = Object.entries(body).map(([name, value]) => `    ${name}=${pythonLiteral(value, 1)},`)
  return [
    'import os',
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${JSON.stringify(baseUrl)}, api_key=os.environ["${keyVariable}"])`,
    `result = client.${resource.name}.create(`,
    ...values,
    ')',
    ...resource.python,
  ].join('\n')
}

function typescript(baseUrl: string, body: Body, resource: Resource): string {
  return [
    "import OpenAI from 'openai'",
    '',
    `const client = new OpenAI({ baseURL: ${JSON.stringify(baseUrl)}, apiKey: process.env.${keyVariable} })`,
    `const result = await client.${resource.name}.create(${typescriptLiteral(body)})`,
    ...resource.typescript,
  ].join('\n')
}

/** JSON as a literal of Python, at this depth of the code; its strings are valid there too. */
function pythonLiteral(value: unknown, depth: number): string {
  const indent = '    '.repeat(depth + 1)
  const end = '    '.repeat(depth)
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null || value === undefined) return 'None'
  if (Array.isArray(value)) {
    const items = value.map((item) => `${indent}${pythonLiteral(item, depth + 1)},\n`)
    return items.length === 0 ? '[]' : `[\n${items.join('')}${end}]`
  }
  if (typeof value !== 'object') return JSON.stringify(value)
  const fields = Object.entries(value).map(
    ([name, field]) => `${indent}${JSON.stringify(name)}: ${pythonLiteral(field, depth + 1)},\n`,
  )
  return fields.length === 0 ? '{}' : `{\n${fields.join('')}${end}}`
}
