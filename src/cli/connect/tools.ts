import { agents, aiSdk, langchain, llamaIndex, pydanticAi } from './frameworks.ts'
import { dify, librechat, llm, n8n, openWebui } from './chat.ts'
import { aider, claudeCode, codex, copilot } from './coding-agents.ts'
import { goose, kilo, opencode, qwenCode } from './configured-agents.ts'
import { cline, continueDev, cursor, rooCode, vscode, zed } from './editors.ts'
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
  copilot,
  opencode,
  kilo,
  qwenCode,
  goose,
  aider,
  vscode,
  cline,
  rooCode,
  continueDev,
  cursor,
  zed,
  openWebui,
  librechat,
  n8n,
  dify,
  llm,
]
