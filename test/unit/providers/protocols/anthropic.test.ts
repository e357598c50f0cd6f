import { anthropicMessages } from '../../../../src/providers/protocols/anthropic/protocol.ts'
import { testProtocolContract } from './support/contract.ts'

testProtocolContract('anthropic', anthropicMessages)
