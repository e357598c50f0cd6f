import { responses } from '../../../../src/providers/protocols/responses/protocol.ts'
import { testProtocolContract } from './support/contract.ts'

testProtocolContract('responses', responses)
