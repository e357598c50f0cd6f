import { responses } from '../../../src/providers/protocols/responses/wire.ts'
import { holdWireContract } from './support/contract.ts'

holdWireContract('responses', responses)
