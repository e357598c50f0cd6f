import { openaiChat } from '../../src/providers/wires/openai-chat/wire.ts'
import { plain } from '../../src/providers/wires/openai-chat/dialects/plain.ts'
import { holdWireContract } from './contract.ts'

holdWireContract('openai-chat', openaiChat(plain('openai-compatible')))
