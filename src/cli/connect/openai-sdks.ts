import { quoted, shellWord } from '../quote.ts'
import { baseUrl, type ConnectInput, type ConnectTool, keyEnvironment, keyVariable } from './tool.ts'

const prompt = 'Hello from Weir'

/** The OpenAI SDK for Python. */
export const openaiPython: ConnectTool = {
  name: 'openai',
  title: 'OpenAI SDK for Python',
  summary: 'the openai package of Python',
  settings: (input) => ({
    install: 'pip install openai',
    environment: keyEnvironment,
    files: [
      {
        path: 'example.py',
        format: 'python',
        content: `import os

from openai import OpenAI

client = OpenAI(
    base_url=${quoted(baseUrl(input))},
    api_key=os.environ["${keyVariable}"],
)
completion = client.chat.completions.create(
    model=${quoted(input.model.slug)},
    messages=[{"role": "user", "content": "${prompt}"}],
)
print(completion.choices[0].message.content)
`,
      },
    ],
    command: 'python example.py',
    notes: [unchangedProgram(input)],
  }),
}

/** The OpenAI SDK for JavaScript and TypeScript. */
export const openaiNode: ConnectTool = {
  name: 'openai-node',
  title: 'OpenAI SDK for Node',
  summary: 'the openai package of Node, Deno and Bun',
  settings: (input) => ({
    install: 'npm install openai',
    environment: keyEnvironment,
    files: [
      {
        path: 'example.mjs',
        format: 'javascript',
        content: `import OpenAI from "openai"

const client = new OpenAI({
  baseURL: ${quoted(baseUrl(input))},
  apiKey: process.env.${keyVariable},
})
const completion = await client.chat.completions.create({
  model: ${quoted(input.model.slug)},
  messages: [{ role: "user", content: "${prompt}" }],
})
console.log(completion.choices[0].message.content)
`,
      },
    ],
    command: 'node example.mjs',
    notes: [unchangedProgram(input)],
  }),
}

/** The OpenAI SDK for Go. */
export const openaiGo: ConnectTool = {
  name: 'openai-go',
  title: 'OpenAI SDK for Go',
  summary: 'the module github.com/openai/openai-go',
  settings: (input) => ({
    install: 'go get github.com/openai/openai-go/v3',
    environment: keyEnvironment,
    files: [
      {
        path: 'main.go',
        format: 'go',
        content: `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

func main() {
	client := openai.NewClient(
		option.WithBaseURL(${quoted(baseUrl(input))}),
		option.WithAPIKey(os.Getenv("${keyVariable}")),
	)
	completion, err := client.Chat.Completions.New(context.Background(), openai.ChatCompletionNewParams{
		Model:    ${quoted(input.model.slug)},
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("${prompt}")},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(completion.Choices[0].Message.Content)
}
`,
      },
    ],
    command: 'go run .',
    notes: [unchangedProgram(input)],
  }),
}

/** A request from the shell. */
export const curl: ConnectTool = {
  name: 'curl',
  title: 'curl',
  summary: 'a request from the shell',
  settings: (input) => ({
    environment: keyEnvironment,
    files: [],
    command: `curl ${shellWord(`${baseUrl(input)}/chat/completions`)} \\
  -H "Authorization: Bearer $${keyVariable}" \\
  -H 'Content-Type: application/json' \\
  -d ${shellWord(requestBody(input))}`,
    notes: ['To stream the response, add "stream": true to the body and -N to the command.'],
  }),
}

function requestBody({ model }: ConnectInput): string {
  return JSON.stringify({
    model: model.slug.toWellFormed(),
    messages: [{ role: 'user', content: prompt }],
  })
}

function unchangedProgram(input: ConnectInput): string {
  return `A program that creates its client without arguments needs no change: set OPENAI_BASE_URL to ${baseUrl(input)} and OPENAI_API_KEY to the API key.`
}
