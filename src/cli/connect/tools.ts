import { chatTools } from './chat.ts'
import { codingAgents } from './coding-agents.ts'
import { editors } from './editors.ts'
import { frameworks } from './frameworks.ts'
import { sdks } from './sdks.ts'
import { baseUrl, type ConnectTool, keyEnvironment, type ToolTemplate } from './tool.ts'

/** The tools of `weir connect`, in the order of its list. */
export const connectTools: readonly ConnectTool[] = [
  ...sdks,
  ...frameworks,
  ...codingAgents,
  ...editors,
  ...chatTools,
].map(toTool)

function toTool(template: ToolTemplate): ConnectTool {
  return {
    ...template,
    settings: (input) => ({
      environment: keyEnvironment,
      files: [],
      ...template.settings({ ...input, url: baseUrl(input), slug: input.model.slug }),
    }),
  }
}
