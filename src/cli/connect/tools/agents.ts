import { quoted } from '../../quote.ts'
import { baseUrl, type ConnectInput, type ConnectTool, keyEnvironment, keyVariable } from '../tool.ts'

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
