import { agents } from './tools/agents.ts'
import { llm, openWebui } from './tools/chat.ts'
import { aider, claudeCode, codex, opencode } from './tools/coding-agents.ts'
import { continueDev, cursor, zed } from './tools/editors.ts'
import { aiSdk, langchain, llamaIndex, pydanticAi } from './tools/frameworks.ts'
import { curl, openaiGo, openaiNode, openaiPython } from './tools/openai-sdks.ts'
import type { ConnectTool } from './tool.ts'

/** The tools of `weir connect`, in the order of its list. */
export const connectTools: readonly ConnectTool[] = [
  curl,
  openaiPython,
  openaiNode,
  openaiGo,
  aiSdk,
  langchain,
  llamaIndex,
  pydanticAi,
  agents,
  claudeCode,
  codex,
  opencode,
  aider,
  continueDev,
  cursor,
  zed,
  openWebui,
  llm,
]
