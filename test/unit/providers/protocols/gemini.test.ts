import { gemini } from '../../../../src/providers/protocols/gemini/protocol.ts'
import { testProtocolContract } from './support/contract.ts'

testProtocolContract('gemini', gemini({ name: 'gemini', callIds: true, serviceTier: true }))
