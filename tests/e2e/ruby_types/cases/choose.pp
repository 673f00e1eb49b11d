choosy { 'default': by => 'me' }
choosy { 'given': by => 'you', provider => base }
choosy { 'missing': by => 'none', provider => missing }
