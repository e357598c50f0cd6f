import { openaiChat } from '../../../../src/providers/protocols/openai-chat/protocol.ts'
import { plain } from '../../../../src/providers/protocols/openai-chat/dialects/plain.ts'
import { testProtocolContract } from './support/contract.ts'

testProtocolContract('openai-chat', openaiChat(plain('openai-compatible')))
