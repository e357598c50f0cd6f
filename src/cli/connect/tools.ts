import { agents, aiSdk, langchain, llamaIndex, pydanticAi } from './frameworks.ts'
import { llm, openWebui } from './chat.ts'
import { aider, claudeCode, codex, opencode } from './coding-agents.ts'
import { continueDev, cursor, zed } from './editors.ts'
import { curl, openaiGo, openaiNode, openaiPython } from './openai-sdks.ts'
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
