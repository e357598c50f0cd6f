import { quoted, shellWord } from '../quote.ts'
import { type FileFormat, keyVariable, type TemplateInput, type ToolTemplate } from './tool.ts'

/** The prompt of the example programs. */
export const prompt = 'Hello from Weir'

/** A language of the programs: the file of one, and the command that runs it. */
type Language = { readonly command: string; readonly file: string; readonly format: FileFormat }

/** A program of Python. */
export const python: Language = { command: 'python example.py', file: 'example.py', format: 'python' }
/** A program of Node. */
export const node: Language = { command: 'node example.mjs', file: 'example.mjs', format: 'javascript' }

/** A tool whose settings are in a program that uses it. */
type Example = Omit<ToolTemplate, 'settings'> & {
  readonly install: string
  readonly language: Language
  program(input: TemplateInput): string
  notes(input: TemplateInput): readonly string[]
}

/** Makes the template of a tool from the program that uses it. */
export function example({ install, language, program, notes, ...tool }: Example): ToolTemplate {
  const { command, file, format } = language
  return {
    ...tool,
    settings: (input) => ({
      install,
      command,
      files: [{ path: file, format, content: program(input) }],
      notes: notes(input),
    }),
  }
}

/** The shell and the SDKs of OpenAI. */
export const sdks: readonly ToolTemplate[] = [
  {
    name: 'curl',
    title: 'curl',
    summary: 'a request from the shell',
    settings: ({ url, slug }) => ({
      command: `curl ${shellWord(`${url}/chat/completions`)} \\
  -H "Authorization: Bearer $${keyVariable}" \\
  -H 'Content-Type: application/json' \\
  -d ${shellWord(requestBody(slug))}`,
      notes: ['To stream the response, add "stream": true to the body and -N to the command.'],
    }),
  },
  example({
    name: 'openai',
    title: 'OpenAI SDK for Python',
    summary: 'the openai package of Python',
    install: 'pip install openai',
    language: python,
    program: ({ url, slug }) => `import os

from openai import OpenAI

client = OpenAI(
    base_url=${quoted(url)},
    api_key=os.environ["${keyVariable}"],
)
completion = client.chat.completions.create(
    model=${quoted(slug)},
    messages=[{"role": "user", "content": "${prompt}"}],
)
print(completion.choices[0].message.content)
`,
    notes: unchangedProgram,
  }),
  example({
    name: 'openai-node',
    title: 'OpenAI SDK for Node',
    summary: 'the openai package of Node, Deno and Bun',
    install: 'npm install openai',
    language: node,
    program: ({ url, slug }) => `import OpenAI from "openai"

const client = new OpenAI({
  baseURL: ${quoted(url)},
  apiKey: process.env.${keyVariable},
})
const completion = await client.chat.completions.create({
  model: ${quoted(slug)},
  messages: [{ role: "user", content: "${prompt}" }],
})
console.log(completion.choices[0].message.content)
`,
    notes: unchangedProgram,
  }),
  example({
    name: 'openai-go',
    title: 'OpenAI SDK for Go',
    summary: 'the module github.com/openai/openai-go',
    install: 'go get github.com/openai/openai-go/v3',
    language: { command: 'go run .', file: 'main.go', format: 'go' },
    program: ({ url, slug }) => `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func main() {
	client := openai.NewClient(
		option.WithBaseURL(${quoted(url)}),
		option.WithAPIKey(os.Getenv("${keyVariable}")),
	)
	completion, err := client.Chat.Completions.New(context.Background(), openai.ChatCompletionNewParams{
		Model:    ${quoted(slug)},
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("${prompt}")},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(completion.Choices[0].Message.Content)
}
`,
    notes: unchangedProgram,
  }),
]

function requestBody(slug: string): string {
  return JSON.stringify({ model: slug.toWellFormed(), messages: [{ role: 'user', content: prompt }] })
}

function unchangedProgram({ url }: TemplateInput): readonly string[] {
  return [
    `A program that creates its client without arguments needs no change: set OPENAI_BASE_URL to ${url} and OPENAI_API_KEY to the API key.`,
  ]
}
