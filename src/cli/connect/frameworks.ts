import { quoted } from '../quote.ts'
import { example, node, prompt, python } from './sdks.ts'
import { keyVariable, type TemplateInput, type ToolTemplate } from './tool.ts'

/** Frameworks for programs that use models. */
export const frameworks: readonly ToolTemplate[] = [
  example({
    name: 'ai-sdk',
    title: 'AI SDK',
    summary: 'the ai package of Vercel, with its OpenAI-compatible provider',
    install: 'npm install ai @ai-sdk/openai-compatible',
    language: node,
    program: ({ url, slug }) => `import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { generateText } from "ai"

const weir = createOpenAICompatible({
  name: "weir",
  baseURL: ${quoted(url)},
  apiKey: process.env.${keyVariable},
  includeUsage: true,
  supportsStructuredOutputs: true,
})
const { text } = await generateText({
  model: weir(${quoted(slug)}),
  prompt: "${prompt}",
})
console.log(text)
`,
    notes: () => ['Without includeUsage, a streamed response has no token counts.'],
  }),
  example({
    name: 'langchain',
    title: 'LangChain',
    summary: 'the langchain-openai package of Python',
    install: 'pip install langchain-openai',
    language: python,
    program: ({ url, slug }) => `import os

from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    model=${quoted(slug)},
    base_url=${quoted(url)},
    api_key=os.environ["${keyVariable}"],
    stream_usage=True,
)
print(model.invoke("${prompt}").content)
`,
    notes: () => [
      'Without stream_usage, a streamed response has no token counts.',
      'For embeddings, use OpenAIEmbeddings with check_embedding_ctx_length=False: it then sends texts, and not the token ids of OpenAI, which other models do not have.',
    ],
  }),
  example({
    name: 'llamaindex',
    title: 'LlamaIndex',
    summary: 'the llama-index-llms-openai-like package of Python',
    install: 'pip install llama-index-llms-openai-like',
    language: python,
    program: ({ url, slug, model }) => `import os

from llama_index.llms.openai_like import OpenAILike

model = OpenAILike(
    model=${quoted(slug)},
    api_base=${quoted(url)},
    api_key=os.environ["${keyVariable}"],
${modelWindow(model)}    is_chat_model=True,
    is_function_calling_model=${model.tools ? 'True' : 'False'},
    temperature=1,
)
print(model.complete("${prompt}"))
`,
    notes: () => [
      'Use OpenAILike rather than OpenAI, which accepts only model names that it knows.',
      'Without temperature, LlamaIndex sends 0.1, which some models reject. All models accept 1.',
      'For embeddings, use OpenAILikeEmbedding of llama-index-embeddings-openai-like, with the same api_base and api_key, and the slug as model_name.',
    ],
  }),
  example({
    name: 'pydantic-ai',
    title: 'Pydantic AI',
    summary: 'the pydantic-ai package of Python',
    install: 'pip install "pydantic-ai-slim[openai]"',
    language: python,
    program: ({ url, slug }) => `import os

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(
    base_url=${quoted(url)},
    api_key=os.environ["${keyVariable}"],
)
agent = Agent(OpenAIChatModel(${quoted(slug)}, provider=provider))
print(agent.run_sync("${prompt}").output)
`,
    notes: () => ['Pass the model as an object: a string such as openai:… would call OpenAI directly.'],
  }),
  {
    name: 'agents',
    title: 'OpenAI Agents SDK',
    summary: 'the Agents SDK of OpenAI, for Python and Node',
    settings: (input) => ({
      install: 'pip install openai-agents    # or: npm install @openai/agents',
      files: [
        { path: 'agent.py', format: 'python', content: pythonAgent(input) },
        { path: 'agent.mjs', format: 'javascript', content: nodeAgent(input) },
      ],
      command: 'python agent.py    # or: node agent.mjs',
      notes: [
        'Agents with function tools work as shown, by chat completions. To use the Responses API instead, set use_responses (useResponses in Node) to true, and compatibility: { function_tools: true } in weir.yaml.',
        'Pass the provider explicitly: otherwise the Python SDK takes the part of a slug before the slash for the name of a provider.',
        'In Python, a streamed chat completion has token counts only with ModelSettings(include_usage=True).',
        'Tracing is disabled because it would send the conversations to OpenAI.',
      ],
    }),
  },
]

function modelWindow({ contextWindow }: TemplateInput['model']): string {
  return contextWindow === undefined ? '' : `    context_window=${contextWindow},\n`
}

function pythonAgent({ url, slug }: TemplateInput): string {
  return `import os

from agents import Agent, OpenAIProvider, RunConfig, Runner

provider = OpenAIProvider(
    base_url=${quoted(url)},
    api_key=os.environ["${keyVariable}"],
    use_responses=False,
)
agent = Agent(name="Assistant", model=${quoted(slug)})
result = Runner.run_sync(
    agent,
    "Hello from Weir",
    run_config=RunConfig(model_provider=provider, tracing_disabled=True),
)
print(result.final_output)
`
}

function nodeAgent({ url, slug }: TemplateInput): string {
  return `import { Agent, OpenAIProvider, Runner } from "@openai/agents"

const modelProvider = new OpenAIProvider({
  baseURL: ${quoted(url)},
  apiKey: process.env.${keyVariable},
  useResponses: false,
})
const runner = new Runner({ modelProvider, tracingDisabled: true })
const agent = new Agent({ name: "Assistant", model: ${quoted(slug)} })
const result = await runner.run(agent, "Hello from Weir")
console.log(result.finalOutput)
`
}
