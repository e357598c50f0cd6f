import { quoted } from '../quote.ts'
import { baseUrl, type ConnectInput, type ConnectTool, keyEnvironment, keyVariable } from './tool.ts'

const prompt = 'Hello from Weir'

/** The AI SDK of Vercel. */
export const aiSdk: ConnectTool = {
  name: 'ai-sdk',
  title: 'AI SDK',
  summary: 'the ai package of Vercel, with its OpenAI-compatible provider',
  settings: (input) => ({
    install: 'npm install ai @ai-sdk/openai-compatible',
    environment: keyEnvironment,
    files: [
      {
        path: 'example.mjs',
        format: 'javascript',
        content: `import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { generateText } from "ai"

const weir = createOpenAICompatible({
  name: "weir",
  baseURL: ${quoted(baseUrl(input))},
  apiKey: process.env.${keyVariable},
  includeUsage: true,
  supportsStructuredOutputs: true,
})
const { text } = await generateText({
  model: weir(${quoted(input.model.slug)}),
  prompt: "${prompt}",
})
console.log(text)
`,
      },
    ],
    command: 'node example.mjs',
    notes: ['Without includeUsage, a streamed response has no token counts.'],
  }),
}

/** LangChain for Python. */
export const langchain: ConnectTool = {
  name: 'langchain',
  title: 'LangChain',
  summary: 'the langchain-openai package of Python',
  settings: (input) => ({
    install: 'pip install langchain-openai',
    environment: keyEnvironment,
    files: [
      {
        path: 'example.py',
        format: 'python',
        content: `import os

from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model=${quoted(input.model.slug)},
    base_url=${quoted(baseUrl(input))},
    api_key=os.environ["${keyVariable}"],
    stream_usage=True,
)
print(model.invoke("${prompt}").content)
`,
      },
    ],
    command: 'python example.py',
    notes: [
      'Without stream_usage, a streamed response has no token counts.',
      'For embeddings, use OpenAIEmbeddings with check_embedding_ctx_length=False: it then sends texts, and not the token ids of OpenAI, which other models do not have.',
    ],
  }),
}

/** LlamaIndex for Python. */
export const llamaIndex: ConnectTool = {
  name: 'llamaindex',
  title: 'LlamaIndex',
  summary: 'the llama-index-llms-openai-like package of Python',
  settings: (input) => ({
    install: 'pip install llama-index-llms-openai-like',
    environment: keyEnvironment,
    files: [{ path: 'example.py', format: 'python', content: llamaIndexProgram(input) }],
    command: 'python example.py',
    notes: [
      'Use OpenAILike rather than OpenAI, which accepts only model names that it knows.',
      'For embeddings, use OpenAILikeEmbedding of llama-index-embeddings-openai-like, with the same api_base and api_key, and the slug as model_name.',
    ],
  }),
}

/** Pydantic AI. */
export const pydanticAi: ConnectTool = {
  name: 'pydantic-ai',
  title: 'Pydantic AI',
  summary: 'the pydantic-ai package of Python',
  settings: (input) => ({
    install: 'pip install "pydantic-ai-slim[openai]"',
    environment: keyEnvironment,
    files: [
      {
        path: 'example.py',
        format: 'python',
        content: `import os

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(
    base_url=${quoted(baseUrl(input))},
    api_key=os.environ["${keyVariable}"],
)
agent = Agent(OpenAIChatModel(${quoted(input.model.slug)}, provider=provider))
print(agent.run_sync("${prompt}").output)
`,
      },
    ],
    command: 'python example.py',
    notes: ['Pass the model as an object: a string such as openai:… would call OpenAI directly.'],
  }),
}

function llamaIndexProgram(input: ConnectInput): string {
  const { slug, contextWindow, tools } = input.model
  const window = contextWindow === undefined ? '' : `    context_window=${contextWindow},\n`
  return `import os

from llama_index.llms.openai_like import OpenAILike

model = OpenAILike(
    model=${quoted(slug)},
    api_base=${quoted(baseUrl(input))},
    api_key=os.environ["${keyVariable}"],
${window}    is_chat_model=True,
    is_function_calling_model=${tools ? 'True' : 'False'},
)
print(model.complete("${prompt}"))
`
}

/** The Agents SDK of OpenAI, for Python and for JavaScript. */
export const agents: ConnectTool = {
  name: 'agents',
  title: 'OpenAI Agents SDK',
  summary: 'the Agents SDK of OpenAI, for Python and Node',
  settings: (input) => ({
    install: 'pip install openai-agents    # or: npm install @openai/agents',
    environment: keyEnvironment,
    files: [
      { path: 'agent.py', format: 'python', content: pythonProgram(input) },
      { path: 'agent.mjs', format: 'javascript', content: nodeProgram(input) },
    ],
    command: 'python agent.py    # or: node agent.mjs',
    notes: [
      'Agents with function tools work as shown, by chat completions. To use the Responses API instead, set use_responses (useResponses in Node) to true, and compatibility: { function_tools: true } in weir.yaml.',
      'Pass the provider explicitly: otherwise the Python SDK takes the part of a slug before the slash for the name of a provider.',
      'Tracing is disabled because it would send the conversations to OpenAI.',
    ],
  }),
}

function pythonProgram(input: ConnectInput): string {
  return `import os

from agents import Agent, OpenAIProvider, RunConfig, Runner

provider = OpenAIProvider(
    base_url=${quoted(baseUrl(input))},
    api_key=os.environ["${keyVariable}"],
    use_responses=False,
)
agent = Agent(name="Assistant", model=${quoted(input.model.slug)})
result = Runner.run_sync(
    agent,
    "Hello from Weir",
    run_config=RunConfig(model_provider=provider, tracing_disabled=True),
)
print(result.final_output)
`
}

function nodeProgram(input: ConnectInput): string {
  return `import { Agent, OpenAIProvider, Runner } from "@openai/agents"

const modelProvider = new OpenAIProvider({
  baseURL: ${quoted(baseUrl(input))},
  apiKey: process.env.${keyVariable},
  useResponses: false,
})
const runner = new Runner({ modelProvider, tracingDisabled: true })
const agent = new Agent({ name: "Assistant", model: ${quoted(input.model.slug)} })
const result = await runner.run(agent, "Hello from Weir")
console.log(result.finalOutput)
`
}
