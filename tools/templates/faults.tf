# A table with every fault that the schema can reveal. faults.txt lists the expected findings.

terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 99.0"
    }
  }
}

resource "aws_dynamodb_tabel" "misspelt" {
  name = "t"
}

resource "aws_dynamodb_table" "wrong" {
  billing_mode     = "ON_DEMAND"
  hash_key         = "pk"
  range_key        = ["sk"]
  stream_enabled   = "yes"
  read_capacity    = "5"
  stream_view_type = var.view
  colour           = "blue"
  ttl              = "expires"

  attribute {
    name = "pk"
    type = "T"
  }

  attribute {
    name = "unused"
    type = "S"
  }

  global_secondary_index {
    name     = "gsi1"
    hash_key = "gsi1pk"

    key_schema {
      attribute_name = "pk"
    }
  }

  point_in_time_recovery {
    enabled = true
  }

  point_in_time_recovery {
    enabled  = true
    forever  = true
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = data.aws_kms_alias.missing.target_key_arn
  }
}

data "aws_kms_alias" "there" {
  name = "alias/a"
}

output "nothing" {
  value = [aws_dynamodb_table.wrong.colour, data.aws_kms_alias.there.secret, aws_dynamodb_table.other.arn]
}
