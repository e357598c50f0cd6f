import { openaiChat } from '../../../src/providers/protocols/openai-chat/wire.ts'
import { plain } from '../../../src/providers/protocols/openai-chat/dialects/plain.ts'
import { holdWireContract } from './support/contract.ts'

holdWireContract('openai-chat', openaiChat(plain('openai-compatible')))
